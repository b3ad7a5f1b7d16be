"""A log that is being written is followed on the page."""

from playwright.sync_api import expect

from tests.e2e.conftest import ConsoleProcess, new_visitor


def test_a_followed_log_grows_on_the_page(chromium, tmp_path):
    log = tmp_path / "job.log"
    log.write_text("step:1 - critic/score/mean:0.5\nstep:2 - critic/score/mean:0.6\n")
    server = ConsoleProcess(tmp_path)
    server.start()
    try:
        visitor = new_visitor(chromium, server).open("training_metrics")
        field = visitor.page.get_by_role("textbox", name="Or follow a file on this machine")
        field.fill(str(log))
        field.press("Enter")
        visitor.sees("2 steps")
        with log.open("a") as file:
            file.write("step:3 - critic/score/mean:0.7\nstep:4 - critic/sc")
        expect(visitor.page.get_by_text("3 steps").first).to_be_visible(timeout=60_000)
    finally:
        server.stop()
