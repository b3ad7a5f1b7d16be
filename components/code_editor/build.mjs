// Bundles src/editor.js into the one file named on the command line; build.py calls this.
import {build} from "esbuild";

await build({
  entryPoints: ["src/editor.js"],
  outfile: process.argv[2],
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  charset: "utf8",
  logLevel: "error",
});
