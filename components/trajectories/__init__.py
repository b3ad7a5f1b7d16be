"""The parts of the Trajectories page: masks and credit on one side, the rollout buffer on the other."""
