addEventListener("DOMContentLoaded", () => {
  const all = (what, from = document) => [...from.querySelectorAll(what)];
  const level = (row) => Number(row.dataset.level || 0);

  // Rows and marks were added in the order of time: each row goes below its call, each mark to what it is about.
  for (const row of all("li[data-in]")) document.getElementById(row.dataset.in)?.querySelector("ul").append(row);
  for (const mark of all("[data-of]")) {
    const about = document.getElementById(mark.dataset.of);
    if (!about) continue;
    if (mark.dataset.rose) about.dataset.level = Math.max(level(about), mark.dataset.rose);
    const took = about.querySelector(".took");
    if (mark.dataset.state && took) took.textContent = mark.textContent;
  }
  for (const row of all(".tree li[id]").reverse()) {
    const home = row.parentElement.closest("li");
    if (home && level(row) > level(home)) home.dataset.level = level(row);
  }

  const tools = document.querySelector(".tools");
  if (!tools) return;
  const search = tools.querySelector(".search"), least = tools.querySelector(".choose"), shown = tools.querySelector(".shown");
  const rows = all(".tree li:not([hidden])"), parts = rows.length ? [] : all("article, .message, .full > :is(pre, details)");
  const own = (row) => (row.querySelector(":scope > details > summary") || row).textContent.toLowerCase();
  const filter = () => {
    const word = search.value.trim().toLowerCase(), from = Number(least?.value || 0);
    const fits = (each, text) => (!each.dataset.level || level(each) >= from) && text.includes(word);
    for (const part of parts) {
      part.hidden = !fits(part, part.textContent.toLowerCase());
      if (word && !part.hidden && part.open === false) part.open = true;
    }
    const kept = new Set();
    for (const row of rows) {
      const line = row.querySelector(":scope > article") || row;
      if (!fits(line, own(row))) continue;
      for (let each = row; each; each = each.parentElement.closest("li")) {
        kept.add(each);
        const folded = each.querySelector(":scope > details");
        if (word && folded && each !== row) folded.open = true;
      }
    }
    for (const row of rows) row.hidden = !kept.has(row);
    const every = parts.concat(rows), left = every.filter((each) => !each.hidden).length;
    shown.textContent = left === every.length ? "" : `${left} of ${every.length}`;
  };
  const fold = (open) => () => all("main details").forEach((each) => { each.open = open; });
  search.addEventListener("input", filter);
  least?.addEventListener("change", filter);
  tools.querySelector(".unfold").addEventListener("click", fold(true));
  tools.querySelector(".fold").addEventListener("click", fold(false));
  tools.hidden = false;
});
