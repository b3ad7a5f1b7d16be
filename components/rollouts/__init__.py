"""The parts of the Rollouts page: files and mixes to choose, jobs to watch, results to look into."""
