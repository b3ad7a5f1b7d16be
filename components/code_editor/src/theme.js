// The editor in the console's colours: grounds and lines from Streamlit's theme, only the tokens' colours are CodeMirror's.
import {defaultHighlightStyle, syntaxHighlighting} from "@codemirror/language";
import {oneDarkHighlightStyle} from "@codemirror/theme-one-dark";
import {EditorView} from "@codemirror/view";

const LIGHT = [EditorView.theme({}, {dark: false}), syntaxHighlighting(defaultHighlightStyle)];
const DARK = [EditorView.theme({}, {dark: true}), syntaxHighlighting(oneDarkHighlightStyle)];

const GROUNDS = EditorView.theme({
  "&": {
    fontSize: "13px",
    color: "var(--st-text-color)",
    backgroundColor: "var(--st-background-color)",
    border: "1px solid var(--st-border-color)",
    borderRadius: "var(--st-base-radius)",
    boxSizing: "border-box",
    overflow: "hidden",
  },
  "&.cm-focused": {outline: "2px solid var(--st-primary-color)", outlineOffset: "-1px"},
  ".cm-scroller": {overflow: "auto", fontFamily: "var(--st-code-font)"},
  ".cm-content": {caretColor: "var(--st-text-color)"},
  ".cm-cursor": {borderLeftColor: "var(--st-text-color)"},
  ".cm-activeLine": {backgroundColor: "color-mix(in srgb, var(--st-primary-color) 9%, transparent)"},
  ".cm-activeLineGutter": {backgroundColor: "color-mix(in srgb, var(--st-primary-color) 18%, transparent)"},
  ".cm-gutters": {
    backgroundColor: "var(--st-secondary-background-color)",
    color: "var(--st-gray-text-color)",
    border: "none",
    borderRight: "1px solid var(--st-border-color)",
  },
  ".cm-tooltip, .cm-panels": {
    backgroundColor: "var(--st-secondary-background-color)",
    color: "var(--st-text-color)",
    border: "1px solid var(--st-border-color)",
  },
  ".cm-tooltip-lint": {fontFamily: "var(--st-font)", maxWidth: "44em"},
  ".cm-textfield, .cm-button": {
    backgroundColor: "var(--st-background-color)",
    backgroundImage: "none",
    color: "var(--st-text-color)",
    border: "1px solid var(--st-border-color)",
  },
});

/** Streamlit hands its theme down as CSS variables; whether it is dark is read off the ground, not guessed by name. */
export function isDark(element) {
  const colour = getComputedStyle(element).getPropertyValue("--st-background-color").trim();
  const digits = colour.match(/^#([0-9a-f]{6})/i);
  const [red, green, blue] = digits
    ? [0, 2, 4].map((at) => parseInt(digits[1].slice(at, at + 2), 16))
    : (colour.match(/\d+/g) ?? [255, 255, 255]).map(Number);
  return (red * 299 + green * 587 + blue * 114) / 1000 < 128;
}

/** What makes an editor look as the console does, `height` pixels high. */
export function looks(dark, height) {
  return [GROUNDS, EditorView.theme({"&": {height: `${height}px`}}), dark ? DARK : LIGHT];
}
