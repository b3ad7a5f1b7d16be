"""The parts of the Practice page: the plan, the workbench, and the round from memory."""
