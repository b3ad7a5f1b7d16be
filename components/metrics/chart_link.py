"""What binds the charts of a page together: one cursor over all of them, and scrolling to the chart that was asked for.

Plotly hovers in one chart at a time, and Streamlit cannot scroll; both are done here in the page itself. Invariant: it
only reads where the charts lie and draws lines over them; without it every chart works as before.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import streamlit as st

JS = """
const CURSOR = "chart-link-cursor";
const charts = () => [...document.querySelectorAll(".js-plotly-plot")].filter((plot) => plot._fullLayout?.xaxis);
function lineOf(plot) {
  let line = plot.querySelector(`.${CURSOR}`);
  if (!line) {
    line = document.createElement("div");
    line.className = CURSOR;
    line.style.cssText = "position:absolute;width:1px;pointer-events:none;opacity:.75;background:currentColor;";
    const label = document.createElement("span");
    label.style.cssText = "position:absolute;top:2px;font:11px sans-serif;white-space:pre;padding:0 3px;";
    label.style.background = getComputedStyle(document.querySelector(".stApp") ?? document.body).backgroundColor;
    line.append(label);
    plot.style.position = "relative";
    plot.append(line);
  }
  return line;
}
function valuesAt(plot, x) {
  const told = [];
  for (const trace of plot._fullData ?? []) {
    if (trace.hoverinfo === "skip" || trace.visible !== true || !trace.x?.length) continue;
    let best = 0;
    for (let i = 1; i < trace.x.length; i++) if (Math.abs(trace.x[i] - x) < Math.abs(trace.x[best] - x)) best = i;
    const value = (trace.customdata ?? trace.y)[best];
    if (Number.isFinite(value)) told.push(`${trace.name} ${Number(value.toPrecision(3))}`);
  }
  return told.slice(0, 3).join("   ");
}
function hideAll() { document.querySelectorAll(`.${CURSOR}`).forEach((line) => { line.style.display = "none"; }); }
function move(event) {
  const here = event.target.closest?.(".js-plotly-plot");
  const axis = here?._fullLayout?.xaxis;
  if (!axis) { hideAll(); return; }
  const x = axis.p2d(event.clientX - here.getBoundingClientRect().left - axis._offset);
  for (const plot of charts()) {
    const { xaxis, yaxis } = plot._fullLayout;
    const line = lineOf(plot);
    const at = xaxis.d2p(x);
    const shown = plot !== here && at >= 0 && at <= xaxis._length;
    line.style.display = shown ? "block" : "none";
    if (!shown) continue;
    line.style.left = `${xaxis._offset + at}px`;
    line.style.top = `${yaxis._offset}px`;
    line.style.height = `${yaxis._length}px`;
    const label = line.firstChild;
    label.textContent = valuesAt(plot, x);
    const right = at > xaxis._length / 2;
    label.style.left = right ? "auto" : "4px";
    label.style.right = right ? "4px" : "auto";
  }
}
let last = 0;
export default function ({ data }) {
  document.addEventListener("mousemove", move);
  document.addEventListener("mouseleave", hideAll);
  if (data.asked !== last && data.chart) {
    last = data.asked;
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const go = (left) => {
      const found = document.querySelector(`.st-key-${CSS.escape(data.chart)}`);
      if (found) found.scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
      else if (left) setTimeout(() => go(left - 1), 100);
    };
    go(20);
  }
  return () => { document.removeEventListener("mousemove", move); hideAll(); };
}
"""


def link_charts(chart: str, asked: int, *, key: str) -> None:
    """Put one cursor over all charts, and scroll to the element with the key ``chart`` whenever ``asked`` has risen."""
    _component()(data={"chart": chart, "asked": asked}, key=key)


@cache
def _component() -> Any:
    # A string without a line break would be taken for a file name.
    return st.components.v2.component("chart_link", html="<span></span>\n", js=JS)
