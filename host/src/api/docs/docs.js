// Draws /openapi.json: an overview, the operations by heading, the schemas. Operations are drawn when they are opened.

import { example, fields, h, inline, lazy, nameOf, resolve, setSchemas } from './schema.js';

const main = document.getElementById('main');
const toc = document.getElementById('toc');
const search = document.getElementById('search');
const key = document.getElementById('key');
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
let spec;

/** The Markdown that the document uses: headings, paragraphs, lists, tables. */
function markdown(text) {
  const out = [];
  const lines = text.split('\n');
  const take = (test) => { const taken = []; while (lines.length && test(lines[0])) taken.push(lines.shift()); return taken; };
  while (lines.length) {
    const line = lines[0];
    if (!line.trim()) { lines.shift(); continue; }
    const heading = line.match(/^(#+) (.*)/);
    if (heading) {
      lines.shift();
      out.push(h('h3', { id: heading[2].toLowerCase().replace(/\W+/g, '-') }, heading[2]));
    } else if (line.startsWith('|')) {
      out.push(table(take((l) => l.startsWith('|'))));
    } else if (line.startsWith('* ')) {
      const items = [];
      for (const l of take((l) => l.startsWith('* ') || l.startsWith('  '))) {
        if (l.startsWith('* ')) items.push(l.slice(2)); else items.push(items.pop() + ' ' + l.trim());
      }
      out.push(h('ul', null, items.map((i) => h('li', null, inline(i)))));
    } else {
      out.push(h('p', null, inline(take((l) => l.trim() && !/^(#|\||\* )/.test(l)).join(' '))));
    }
  }
  return out;
}

function table(lines) {
  const cells = (line) => line.split('|').slice(1, -1).map((c) => c.trim());
  const [head, , ...rows] = lines;
  const isErrors = cells(head)[0] === 'Code';
  const row = (line) => {
    const own = cells(line);
    const id = isErrors ? `error-${own[0].replaceAll('`', '')}` : null;
    return h('tr', { id }, own.map((c) => h('td', null, inline(c))));
  };
  return h('div', { class: 'scroll' }, h('table', null,
    h('thead', null, h('tr', null, cells(head).map((c) => h('th', { scope: 'col' }, c)))), h('tbody', null, rows.map(row))));
}

function copyable(text) {
  const code = h('code', null, text);
  const button = h('button', { type: 'button', onclick: async () => {
    try { await navigator.clipboard.writeText(code.textContent); } catch { select(code); document.execCommand('copy'); }
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 1200);
  } }, 'Copy');
  return { element: h('div', { class: 'copy' }, h('pre', { tabindex: '0' }, code), button), code };
}

function select(element) {
  const range = document.createRange();
  range.selectNodeContents(element);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}

function parametersOf(operation) {
  return (operation.parameters || []).map((p) => (p.$ref ? spec.components.parameters[nameOf(p)] : p));
}

function jsonOf(part) {
  return part && part.content && part.content['application/json'] ? part.content['application/json'].schema : null;
}

function successOf(operation) {
  for (const status of ['200', '201', '202', '204']) {
    const response = operation.responses[status];
    if (response && !response.$ref) return [status, response];
  }
  return [null, null];
}

/** What the reader has filled in, as a request. */
function request(method, path, operation, inputs, body) {
  const query = new URLSearchParams();
  const headers = {};
  for (const { parameter, input } of inputs) {
    if (!input.value && parameter.in !== 'path') continue;
    if (parameter.in === 'path') path = path.replace(`{${parameter.name}}`, input.value ? encodeURIComponent(input.value) : `{${parameter.name}}`);
    if (parameter.in === 'query') query.set(parameter.name, input.value);
    if (parameter.in === 'header') headers[parameter.name] = input.value;
  }
  if (body && body.value.trim()) headers['Content-Type'] = 'application/json';
  const text = query.toString();
  return { method: method.toUpperCase(), target: path + (text ? '?' + text : ''), headers, body: body && body.value.trim() ? body.value : null };
}

function curl(r) {
  const quote = (s) => `'${s.replaceAll("'", `'\\''`)}'`;
  const base = (spec.servers && spec.servers[0] && spec.servers[0].url || location.origin).replace(/\/$/, '');
  const parts = [`curl ${r.method === 'GET' ? '' : `-X ${r.method} `}${quote(base + r.target)}`, `-H "Authorization: Bearer $SWITCHBOARD_KEY"`];
  for (const [name, value] of Object.entries(r.headers)) parts.push(`-H ${quote(`${name}: ${value}`)}`);
  if (r.body) parts.push(`-d ${quote(r.body)}`);
  return parts.join(' \\\n  ');
}

async function send(r, answer) {
  const headers = { ...r.headers };
  if (key.value.trim()) headers.Authorization = `Bearer ${key.value.trim()}`;
  answer.replaceChildren(h('p', null, 'Waiting …'));
  const started = performance.now();
  try {
    const response = await fetch(r.target, { method: r.method, headers, body: r.body, cache: 'no-store', credentials: 'omit', redirect: 'manual' });
    const text = await response.text();
    const ms = Math.round(performance.now() - started);
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON: shown as it is */ }
    const told = ['x-request-id', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'etag', 'retry-after', 'idempotent-replayed', 'content-type']
      .filter((n) => response.headers.get(n)).map((n) => `${n}: ${response.headers.get(n)}`).join('\n');
    answer.replaceChildren(
      h('p', { class: 'line' }, h('strong', { class: response.ok ? 'ok' : 'bad' }, `${response.status} ${response.statusText}`), ` in ${ms} ms`),
      h('pre', { tabindex: '0' }, told), shown ? copyable(shown).element : null);
  } catch (error) {
    answer.replaceChildren(h('p', { class: 'line bad' }, `No answer: ${error.message}`));
  }
}

function input(parameter) {
  const options = parameter.schema && resolve(parameter.schema).enum;
  const type = parameter.schema && parameter.schema.type;
  const id = `in-${Math.random().toString(36).slice(2)}`;
  const choices = type === 'boolean' ? ['true', 'false'] : options;
  const element = choices
    ? h('select', { id }, h('option', { value: '' }, ''), choices.map((o) => h('option', null, o)))
    : h('input', { id, type: 'text', spellcheck: 'false', autocomplete: 'off', placeholder: parameter.schema && parameter.schema.default !== undefined ? String(parameter.schema.default) : '' });
  return [h('label', { for: id }, parameter.name, parameter.required ? h('b', { title: 'required' }, ' *') : null), element];
}

function tryIt(path, method, operation) {
  const parameters = parametersOf(operation);
  const inputs = [];
  const form = h('form', { class: 'form' }, parameters.map((parameter) => {
    const [label, element] = input(parameter);
    inputs.push({ parameter, input: element });
    return [label, element];
  }));
  const schema = jsonOf(operation.requestBody);
  const body = schema ? h('textarea', { 'aria-label': 'Body', spellcheck: 'false' }) : null;
  if (body) body.value = JSON.stringify(example(schema), null, 2);
  const answer = h('div', { class: 'answer', 'aria-live': 'polite' });
  const line = copyable('');
  const now = () => request(method, path, operation, inputs, body);
  const refresh = () => { line.code.textContent = curl(now()); };
  const button = h('button', { class: 'primary', type: 'submit' }, 'Send');
  const run = async (event) => {
    event.preventDefault();
    const empty = inputs.find(({ parameter, input: i }) => parameter.required && !i.value);
    if (empty) { empty.input.focus(); answer.replaceChildren(h('p', { class: 'line bad' }, `${empty.parameter.name} is required`)); return; }
    button.disabled = true;
    await send(now(), answer);
    button.disabled = false;
  };
  form.addEventListener('submit', run);
  button.addEventListener('click', run);
  for (const element of [...inputs.map((i) => i.input), body].filter(Boolean)) element.addEventListener('input', refresh);
  refresh();
  return [h('h4', null, 'Request'), line.element, h('h4', null, 'Try it'), parameters.length ? form : null, body,
    h('p', null, button), answer];
}

function parameterTable(parameters) {
  const row = (p) => h('tr', null,
    h('td', null, h('code', null, p.name), p.required ? h('span', { class: 'tag' }, 'required') : null), h('td', null, p.in), h('td', null, inline(p.description)));
  return h('div', { class: 'scroll' }, h('table', null,
    h('thead', null, h('tr', null, ['Parameter', 'In', 'Meaning'].map((t) => h('th', { scope: 'col' }, t)))), h('tbody', null, parameters.map(row))));
}

function details(path, method, operation) {
  const out = [];
  const tags = [h('span', { class: 'tag' }, operation.operationId)];
  if (operation['x-service-priority']) tags.push(h('span', { class: 'tag' }, operation['x-service-priority']));
  if (operation['x-service-status']) tags.push(h('span', { class: 'tag warn' }, 'not built yet: answers 501'));
  out.push(h('p', null, tags), ...markdown(operation.description || ''));
  const parameters = parametersOf(operation);
  if (parameters.length) out.push(h('h4', null, 'Parameters'), parameterTable(parameters));
  const body = jsonOf(operation.requestBody);
  if (body) out.push(h('h4', null, 'Body ', h('code', null, nameOf(body) || 'object')), fields(body, true));
  const [status, response] = successOf(operation);
  if (status) {
    const schema = jsonOf(response);
    out.push(h('h4', null, `Answer ${status} `, schema && nameOf(schema) ? h('code', null, nameOf(schema)) : null));
    out.push(schema ? fields(schema) : h('p', null, response.description || 'No body'));
    const others = Object.keys(response.content || {}).filter((t) => t !== 'application/json');
    if (others.length) out.push(h('p', null, 'Also as ', others.map((t) => h('code', null, t))));
  }
  out.push(h('p', null, 'Errors: 400, 401, 403, 404, 409, 429 and 5xx in one shape, ', h('a', { href: '#errors' }, 'listed above'), '.'));
  return h('div', { class: 'body' }, out, tryIt(path, method, operation));
}

function operationElement({ path, method, operation }) {
  const unbuilt = Boolean(operation['x-service-status']);
  const parts = path.split(/(\{[^}]+\})/).map((p) => (p.startsWith('{') ? h('i', null, p) : p));
  const element = h('details', { class: unbuilt ? 'op unbuilt' : 'op', id: operation.operationId },
    h('summary', null, h('span', { class: `m ${method}` }, method.toUpperCase()), h('span', { class: 'path' }, parts),
      h('span', { class: 'what' }, operation.summary || '', unbuilt ? ' · not built yet' : '')));
  element.addEventListener('toggle', () => {
    if (element.open && element.children.length === 1) element.append(details(path, method, operation));
    if (element.open && location.hash !== `#${element.id}`) history.replaceState(null, '', `#${element.id}`);
  });
  return element;
}

function operations() {
  const all = [];
  for (const [path, item] of Object.entries(spec.paths)) {
    for (const method of METHODS) if (item[method]) all.push({ path, method, operation: item[method] });
  }
  return all;
}

function draw() {
  document.getElementById('version').textContent = spec.info.version;
  const all = operations();
  const built = all.filter((o) => !o.operation['x-service-status']).length;
  main.replaceChildren(h('h1', { id: 'overview' }, `${spec.info.title} API`),
    h('p', null, `${all.length} operations, ${built} of them built. Put a key into the field above to try them from here.`), ...markdown(spec.info.description || ''));
  toc.replaceChildren(h('h2', null, 'Overview'), ...[...main.querySelectorAll('h3[id]')].map((e) => h('a', { href: `#${e.id}` }, e.textContent)));
  for (const { name } of spec.tags) {
    const own = all.filter((o) => o.operation.tags.includes(name));
    const section = h('section', null, h('h2', { id: `tag-${name.toLowerCase().replace(/\W+/g, '-')}` }, name), own.map(operationElement));
    main.append(section);
    toc.append(h('div', null, h('h2', null, name), own.map(({ path, method, operation }) => h('a', {
      href: `#${operation.operationId}`, title: `${method.toUpperCase()} ${path}`, class: operation['x-service-status'] ? 'unbuilt' : null,
      'data-text': `${operation.operationId} ${operation.summary} ${path} ${method}`.toLowerCase(),
    }, h('span', { class: `m ${method}` }, method.toUpperCase()), operation.summary || path))));
  }
  const names = Object.keys(spec.components.schemas).sort();
  main.append(h('section', null, h('h2', { id: 'schemas' }, 'Schemas'), names.map((name) => lazy(name, () => h('div', null,
    h('p', null, inline(spec.components.schemas[name].description || '')), fields({ $ref: `#/components/schemas/${name}` }, true)), { class: 'schema', id: `schema-${name}` }))));
  toc.append(h('div', null, h('h2', null, 'Schemas'), names.map((name) => h('a', { href: `#schema-${name}`, 'data-text': name.toLowerCase() }, name))));
}

/** Hides what does not have all the words. */
function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const link of toc.querySelectorAll('a[data-text]')) {
    const hit = words.every((w) => link.dataset.text.includes(w));
    link.hidden = !hit;
    const target = document.getElementById(link.getAttribute('href').slice(1));
    if (target) target.hidden = !hit;
  }
  for (const group of [...toc.querySelectorAll('div'), ...main.querySelectorAll('section')]) {
    const items = [...group.children].filter((c) => c.tagName !== 'H2');
    group.hidden = items.every((c) => c.hidden);
  }
}

/** Opens and shows what the address names. */
function follow() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.tagName === 'DETAILS') target.open = true;
  target.scrollIntoView();
}

key.value = sessionStorage.getItem('switchboard-key') || '';
key.addEventListener('input', () => sessionStorage.setItem('switchboard-key', key.value));
search.addEventListener('input', filter);
addEventListener('hashchange', follow);
addEventListener('keydown', (event) => {
  if (event.key === '/' && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) { event.preventDefault(); search.focus(); }
});

try {
  spec = await (await fetch('/openapi.json')).json();
  setSchemas(spec.components.schemas);
  draw();
  follow();
} catch (error) {
  main.replaceChildren(h('p', null, `The description cannot be read: ${error.message}`));
}
