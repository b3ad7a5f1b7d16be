"""The parts of the Publish page: versions, the service, how trainers call it, what comes in."""
