"""The parts of the quality bench: data, systems, measures, report and plot."""
