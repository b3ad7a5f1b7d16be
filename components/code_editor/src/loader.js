// The few lines that travel inline with every message. The bundle itself is fetched once, from the console's own
// static folder, so that a changed finding costs 3 KB and not 480 KB.
const latest = new WeakMap(); // parentElement -> the newest call; calls made while the bundle loads collapse into it
const cleanups = new WeakMap();
let bundle = null;

export default function load(component) {
  const {data, parentElement, setStateValue} = component;
  bundle ??= import(new URL(`app/static/${data.bundle}`, document.baseURI).href);
  latest.set(parentElement, component);
  bundle
    .then((module) => {
      if (latest.get(parentElement) === component) cleanups.set(parentElement, module.default(component));
    })
    .catch((error) => {
      console.error(error);
      setStateValue("unavailable", true); // Python then draws the plain text area
    });
  return () => {
    // Streamlit also cleans up after a call that a newer one has overtaken; the editor belongs to the newer one.
    if (latest.get(parentElement) !== component) return;
    latest.delete(parentElement);
    cleanups.get(parentElement)?.();
    cleanups.delete(parentElement);
  };
}
