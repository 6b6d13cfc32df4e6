// A newcomer's way by the documentation alone: from nothing to a received webhook. Each command and each request is read from the page; the
// program itself plays the terminal.
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { join } from "node:path";

/** The longest time of the walk, seconds. */
const LONGEST_S = 600;
/** The longest wait for one step, milliseconds: a first request prepares a connector. */
const STEP_MS = 60_000;
/** The address of the reader's program in the documentation. */
const PROGRAM = "http://127.0.0.1:3000";
const TYPE = "email.message.created";

/** A promise that fails when it takes too long. */
const within = (promise, about) =>
  new Promise((resolve, reject) => {
    AbortSignal.timeout(STEP_MS).addEventListener("abort", () => reject(new Error(`too late: ${about}`)));
    promise.then(resolve, reject);
  });

/** A terminal in a folder: the commands that it runs, with the program under test in place of an installed one. */
class Terminal {
  #running = [];

  constructor(folder) {
    this.environment = {
      PATH: process.env.PATH,
      HOME: folder,
      XDG_CONFIG_HOME: join(folder, "config"),
      SWITCHBOARD_DATA_DIR: folder,
      SWITCHBOARD_LISTEN: "127.0.0.1:0",
      SWITCHBOARD_CONNECTORS: process.env.SWITCHBOARD_TEST_BUNDLE,
    };
  }

  #spawn(line) {
    const [program, ...words] = line.split(/\s+/);
    if (program !== "switchboard") throw new Error(`the terminal has no ${program}: ${line}`);
    const child = spawn(process.env.SWITCHBOARD_TEST_BINARY, words, { env: this.environment, stdio: ["pipe", "pipe", "pipe"] });
    this.#running.push(child);
    const output = { text: "", errors: "" };
    child.stdout.on("data", (piece) => { output.text += piece; });
    child.stderr.on("data", (piece) => { output.errors += piece; });
    // A command that ends early reads no input.
    child.stdin.on("error", () => {});
    return { child, output };
  }

  /** Runs a command to its end, with this text as its input; its output. */
  async run(line, input = "") {
    const { child, output } = this.#spawn(line);
    child.stdin.end(input);
    const code = await within(new Promise((resolve) => child.on("close", resolve)), line);
    if (code !== 0) throw new Error(`${line} ends with ${code}: ${output.text}${output.errors}`);
    return output.text;
  }

  /** Starts a command that goes on, and waits for this text among its messages; what the pattern finds. */
  async start(line, pattern) {
    const { child, output } = this.#spawn(line);
    return within(new Promise((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(output.errors);
        if (found) resolve(found);
      };
      child.stderr.on("data", look);
      child.on("close", (code) => reject(new Error(`${line} ends with ${code}: ${output.errors}`)));
    }), line);
  }

  close() {
    for (const child of this.#running) child.kill("SIGKILL");
  }
}

/** The reader's own program: it takes what is posted to it, and waits for the first event of the walk's type. */
const program = async () => {
  const [arrived, waiting] = [[], []];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => { body += piece; });
    request.on("end", () => {
      response.writeHead(204).end();
      arrived.push({ path: request.url, headers: request.headers, body });
      for (const look of waiting) look();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const first = (path) => within(new Promise((resolve) => {
    const look = () => {
      const found = arrived.find((request) => request.path === path && JSON.parse(request.body).type === TYPE);
      if (found) resolve(found);
    };
    waiting.push(look);
    look();
  }), `a request to ${path}`);
  return { url: `http://127.0.0.1:${server.address().port}`, first, close: () => { server.closeAllConnections(); server.close(); } };
};

/** Whether a request is signed with this secret, as the guide on webhooks says. */
const isSigned = ({ headers, body }, secret) => {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  return headers["webhook-signature"].split(" ").includes(`v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
};

/** The commands that a part of a page shows. */
const commands = async (part) => {
  const blocks = await part.locator("pre code[data-language=sh]").allInnerTexts();
  return blocks.flatMap((block) => block.split("\n")).filter((line) => line.startsWith("switchboard "));
};

/** Presses the button of a request, and waits for its answer with this status; the answer's JSON. */
const run = async (request, status) => {
  await request.getByRole("button", { name: "Run", exact: true }).click();
  const answer = request.locator("[aria-live]");
  await answer.locator("strong").filter({ hasText: /^\d+/ }).waitFor({ timeout: STEP_MS });
  const text = await answer.innerText();
  if (!text.startsWith(String(status))) throw new Error(`the answer is not ${status}: ${text}`);
  return JSON.parse(await answer.locator("pre code").innerText());
};

/** The first page of a server, step by step. */
const walk = async (stage, { page, terminal, receiver, server }) => {
  const { check, equal } = stage;
  await page.goto(`${server}/docs`);
  const step = (number) => page.locator("section.step").filter({ has: page.getByRole("heading", { name: new RegExp(`^${number}\\.`) }) });
  const requests = (number) => step(number).locator(".run");

  let key;
  for (const line of await commands(step(1))) key = (await terminal.run(line)).split("\n")[0];
  check(key.startsWith("uc_test_"), "the second command prints a test key");
  await page.locator("#key").fill(key);
  equal((await run(requests(1), 200)).data, [], "the connections at the beginning");
  equal((await run(requests(2), 201)).email, "alice@sandbox.test", "the connected account");
  check((await run(requests(3), 200)).data.length > 0, "there are calendars");
  equal((await run(requests(4), 201)).title, "Lunch", "the event that was created");
  await run(requests(5).first(), 202);
  // The sync goes on after the answer to its start.
  const hasChanges = async () => (await run(requests(5).last(), 200)).data.length > 0;
  const late = performance.now() + STEP_MS;
  while (!(await hasChanges())) check(performance.now() < late, "the feed has events");

  const [login, listen, trigger] = await commands(step(6));
  await terminal.run(login, `${key}\n`);
  const [, secret] = await terminal.start(listen.replace(PROGRAM, receiver.url), /signed with (whsec_\S+)[^]*waiting for events/);
  const shown = await terminal.run(trigger);
  check(shown.includes(`"type": "${TYPE}"`), `the event is printed: ${shown}`);
  const event = await receiver.first("/webhooks");
  check(isSigned(event, secret), "the event is signed with the printed secret");
  const { data: logged } = await run(requests(6), 200);
  check(logged.some(({ id }) => id === JSON.parse(event.body).id), "the event log has the event");

  await requests(7).first().getByLabel("url").fill(`${receiver.url}/hook`);
  const webhook = await run(requests(7).first(), 201);
  check((await terminal.run(trigger)).includes(`${receiver.url}/hook`), "the command shows the webhook");
  const delivery = await receiver.first("/hook");
  check(isSigned(delivery, webhook.secret), "the webhook is signed with the secret of the answer");
  const { data: deliveries } = await run(requests(7).last(), 200);
  const own = deliveries.find(({ eventId }) => eventId === JSON.parse(delivery.body).id);
  equal([own?.status, own?.attempts[0].statusCode], ["delivered", 204], "the delivery on the page");
};

export const a_newcomer_receives_a_webhook = async (stage) => {
  const began = performance.now();
  const terminal = new Terminal(await stage.ask("folder"));
  const receiver = await program();
  try {
    const { page, faults } = await stage.visitor({}, { mayAskOthers: true });
    await page.goto(`${stage.origin}/docs`);
    const [serve] = await commands(page.locator("main"));
    const [, server] = await terminal.start(serve, /listening on (http:\/\/[\d.:]+)/);
    terminal.environment.SWITCHBOARD_SERVER = server;
    await walk(stage, { page, terminal, receiver, server });
    stage.equal(faults, [], "what must not be");
  } finally {
    terminal.close();
    receiver.close();
  }
  const seconds = (performance.now() - began) / 1_000;
  console.log(`from nothing to a received webhook: ${seconds.toFixed(1)} s`);
  stage.check(seconds < LONGEST_S, `the walk takes less than ${LONGEST_S} s: ${seconds}`);
};
