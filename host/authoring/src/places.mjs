// Reads a text from stdin and writes it with each place in the built module as the place in the author's file that it was made of.
import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";

const map = new SourceMap(JSON.parse(readFileSync(process.argv[1], "utf8")));
const text = readFileSync(0, "utf8").replace(/\/?connector\.js:(\d+):(\d+)/g, (place, line, column) => {
  const found = map.findEntry(Number(line) - 1, Number(column) - 1);
  if (found.originalSource === undefined) return place;
  const file = found.originalSource.replace(/^(\.\.\/)+/, "");
  return `${file}:${found.originalLine + 1}:${found.originalColumn + 1}`;
});
process.stdout.write(text);
