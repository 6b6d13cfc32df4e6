// Sites of other origins, which scenarios serve by themselves.
import { createServer } from "node:http";

/** Serves this page at a host name of this machine; its address. */
export const serve = async (html, host = "127.0.0.1") => {
  const server = createServer((_, response) => response.setHeader("content-type", "text/html").end(html));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A scenario that fails closes nothing, and must end all the same.
  server.unref();
  return { url: `http://${host}:${server.address().port}/`, close: () => server.close() };
};
