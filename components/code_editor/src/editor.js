// CodeMirror 6 as a Streamlit component: text in, text out, no key stroke lost.
//
// data      {document, value, version, session, language, label, height, findings, readOnly, goto, debounceMs, phrases}
// state     "value": the document's text, "origin": the session and version it grew from     triggers  "run", "save"
// The one rule: Python replaces the text only by raising data.version, so it never fights the cursor.
import {autocompletion} from "@codemirror/autocomplete";
import {indentWithTab} from "@codemirror/commands";
import {json} from "@codemirror/lang-json";
import {python} from "@codemirror/lang-python";
import {indentUnit} from "@codemirror/language";
import {lintGutter, setDiagnostics} from "@codemirror/lint";
import {Compartment, EditorSelection, EditorState} from "@codemirror/state";
import {EditorView, keymap} from "@codemirror/view";
import {basicSetup} from "codemirror";
import {isDark, looks} from "./theme.js";

const LANGUAGES = {python, json, text: () => []};
const editors = new WeakMap(); // parentElement -> editor; Streamlit calls again and again for one element
const closed = new Map(); // document -> what its editor held when its page was left, in case Python never got it
const FRESH_MS = 1500; // what was sent this short before the tab reloads may not have arrived
const keptName = (document) => `code-editor:${document}`; // in sessionStorage: this tab's alone, and it outlives a reload

/** Findings count lines and columns from 1 and columns in code points, CodeMirror in UTF-16 units. */
function offset(line, column) {
  return line.from + Array.from(line.text).slice(0, column - 1).join("").length;
}

/** A finding beyond the text (which has changed since) is marked at its end, not dropped. */
function toDiagnostic(doc, finding) {
  const line = doc.line(Math.min(Math.max(1, finding.line), doc.lines));
  const from = offset(line, finding.column ?? 1);
  const to = finding.end_column ? offset(line, finding.end_column) : line.to;
  return {from, to: Math.max(from, to), severity: finding.severity, message: finding.message};
}

/** What a tab kept of a document when it was left; it is kept for one return. */
function takeKept(name) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(keptName(name)));
    sessionStorage.removeItem(keptName(name));
    return kept;
  } catch {
    return null; // storage is switched off
  }
}

class Editor {
  constructor({data, parentElement}) {
    this.host = parentElement.host ?? parentElement;
    this.settings = new Compartment();
    this.timer = null;
    this.isLoading = false;
    this.session = data.session;
    this.version = data.version;
    const place = parentElement.querySelector(".code-editor");
    this.view = new EditorView({
      parent: place,
      root: place.getRootNode(), // the shadow root: else the selection is read from the wrong document
      state: EditorState.create({doc: data.value, extensions: this.extensions()}),
    });
    this.sent = this.text;
    this.known = [data.value]; // what Python may hold by now: the text it showed last and all that was sent since
    this.sentAt = 0;
    this.reopen(closed.get(data.document), data);
    this.recover(data);
    this.leave = () => (document.visibilityState === "hidden" ? this.keep() : takeKept(this.data.document));
    addEventListener("pagehide", (this.unload = () => this.keep()));
    document.addEventListener("visibilitychange", this.leave);
  }

  /** The tab may be gone in a moment: send what is typed, and keep it where a reload finds it, for it may not arrive. */
  keep() {
    const isUnsure = this.text !== this.sent || Date.now() - this.sentAt < FRESH_MS;
    this.push();
    if (!isUnsure) return;
    const known = this.known.slice(0, -1); // the newest is what may be missing
    try {
      sessionStorage.setItem(keptName(this.data.document), JSON.stringify({text: this.text, known}));
    } catch {
      // no room, or storage is switched off: the text was sent all the same
    }
  }

  /** After a reload go on with what was typed last, when Python shows a text that it grew from. */
  recover({document: name, value}) {
    const kept = takeKept(name);
    if (kept?.known.includes(value)) this.load(kept.text);
  }

  /** Go on where the closed editor of this document was left, when Python shows an earlier text of it. */
  reopen(left, {session, version, value}) {
    if (left?.session !== session || left.version !== version || !left.known.includes(value)) return;
    this.load(left.text);
  }

  extensions() {
    const command = (deed) => () => (deed(), true);
    return [
      // Before basicSetup, so that ours win. stopPropagation: a button of the page may bear the same short-cut.
      keymap.of([
        {key: "Mod-Enter", run: command(() => this.send("run")), stopPropagation: true},
        {key: "Mod-s", run: command(() => this.send("save")), preventDefault: true, stopPropagation: true},
        indentWithTab, // Escape, then Tab leaves the editor; CodeMirror sees to that
      ]),
      basicSetup,
      autocompletion({activateOnTyping: false}), // Enter is a new line, never a word somebody else chose
      indentUnit.of("    "),
      lintGutter(),
      this.settings.of([]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged && !this.isLoading) this.pushSoon();
      }),
      // A click on a button blurs first, so the text reaches Python before the click does.
      EditorView.domEventHandlers({blur: () => this.push()}),
    ];
  }

  get text() {
    return this.view.state.doc.toString();
  }

  pushSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.view.composing ? this.pushSoon() : this.push()), this.data.debounceMs);
  }

  push() {
    clearTimeout(this.timer);
    this.timer = null;
    if (this.text === this.sent) return;
    this.sent = this.text;
    this.known.push(this.sent);
    this.sentAt = Date.now();
    this.component.setStateValue("origin", `${this.session}/${this.version}`); // both travel in one message
    this.component.setStateValue("value", this.sent);
  }

  send(trigger) {
    this.push();
    this.component.setTriggerValue(trigger, true); // in the same message as the text
  }

  replace(text) {
    clearTimeout(this.timer);
    this.timer = null;
    this.load(text);
    this.sent = this.text;
    this.known = [text];
    this.findings = null; // marks of the old text went with it
  }

  load(text) {
    this.isLoading = true;
    const {doc, selection} = this.view.state;
    this.view.dispatch({changes: {from: 0, to: doc.length, insert: text}});
    this.view.dispatch({selection: EditorSelection.cursor(Math.min(selection.main.head, this.view.state.doc.length))});
    this.isLoading = false;
  }

  update(component) {
    const {data} = component;
    this.component = component;
    this.data = data;
    this.followVersion(data);
    if (this.text !== this.sent && this.timer === null) this.push(); // reopened with a text that Python never got
    const {language, label, readOnly, phrases, height} = data;
    this.follow("shape", {language, label, readOnly, phrases, height, dark: isDark(this.host)}, (shape) =>
      this.view.dispatch({effects: this.settings.reconfigure(settings(shape))}),
    );
    this.follow("findings", data.findings, (findings) => {
      const marks = findings.map((finding) => toDiagnostic(this.view.state.doc, finding));
      this.view.dispatch(setDiagnostics(this.view.state, marks));
    });
    this.follow("goto", data.goto, (place) => place && this.goTo(place.line));
  }

  followVersion({value, version, session}) {
    if (session === this.session && version === this.version) {
      const at = this.known.lastIndexOf(value);
      if (at > 0) this.known = this.known.slice(at);
      return;
    }
    // A new session after a restart of the server or a long sleep: what was sent meanwhile is lost. When Python shows a
    // text that this editor gave, what stands here is the same document, only newer: it stays and is sent. Anything
    // else is another document, or another tab's text, and must not be overwritten unseen.
    const isOurs = session !== this.session && this.known.includes(value);
    this.session = session;
    this.version = version;
    if (!isOurs) return this.replace(value);
    this.sent = value;
    this.push();
  }

  /** Do `deed` when `value` is another than the last time. */
  follow(name, value, deed) {
    const shown = JSON.stringify(value);
    if (shown === this[name]) return;
    this[name] = shown;
    deed(value);
  }

  goTo(number) {
    const {doc} = this.view.state;
    const at = doc.line(Math.min(Math.max(1, number), doc.lines)).from;
    this.view.dispatch({selection: {anchor: at}, effects: EditorView.scrollIntoView(at, {y: "center"})});
    this.view.focus();
  }

  close() {
    removeEventListener("pagehide", this.unload);
    document.removeEventListener("visibilitychange", this.leave);
    this.push(); // a page switch within the debounce must not lose the last keys
    const {session, version, text, known} = this;
    closed.set(this.data.document, {session, version, text, known});
    this.view.destroy();
  }
}

/** Everything of the editor that Python may change while it is open, its text and marks aside. */
function settings({language, label, readOnly, phrases, dark, height}) {
  return [
    LANGUAGES[language](),
    EditorState.phrases.of(phrases), // CodeMirror's own words: search panel, marks, folding
    EditorState.readOnly.of(readOnly),
    EditorView.contentAttributes.of({"aria-label": label, "aria-readonly": String(readOnly)}),
    looks(dark, height),
  ];
}

export default function codeEditor(component) {
  const {parentElement} = component;
  let editor = editors.get(parentElement);
  if (!editor) editors.set(parentElement, (editor = new Editor(component)));
  editor.update(component);
  return () => {
    editor.close();
    editors.delete(parentElement);
  };
}
