"""What the page *Code judge* is made of: the submission being edited, judging beside the page, the verdict."""
