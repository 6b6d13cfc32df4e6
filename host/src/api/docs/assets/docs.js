// The documentation works without this script. It adds the search box, the copy buttons, the language that is remembered, and requests
// that the reader sends with their own key, which stays in this tab.

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

/** An element; text is always text, never markup. */
const h = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
};

/** A value of this tab; the browser may forbid to keep any. */
const tab = {
  get: (name) => { try { return sessionStorage.getItem(name) || ''; } catch { return ''; } },
  set: (name, value) => { try { sessionStorage.setItem(name, value); } catch { /* for this page only */ } },
};

// ---- Key

const key = $('#key');
key.value = tab.get('switchboard-key');
key.addEventListener('input', () => tab.set('switchboard-key', key.value.trim()));

// ---- Code: copy buttons, and one language everywhere

const copyable = (pre) => {
  const button = h('button', { type: 'button', onclick: async () => {
    try { await navigator.clipboard.writeText(pre.textContent); } catch {
      getSelection().selectAllChildren(pre);
      document.execCommand('copy');
    }
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 1200);
  } }, 'Copy');
  const box = h('div', { class: 'copy' });
  pre.replaceWith(box);
  box.append(pre, button);
  return box;
};

/** Shows the samples of a language everywhere. */
const show = (language) => {
  if (!$(`.sample[data-language="${language}"]`)) return;
  for (const sample of $$('.sample')) sample.open = sample.dataset.language === language;
  for (const button of $$('.languages button')) button.setAttribute('aria-pressed', String(button.dataset.language === language));
};

for (const pre of $$('pre')) copyable(pre);
for (const samples of $$('.samples')) {
  const choose = (sample) => h('button', { type: 'button', 'data-language': sample.dataset.language, 'aria-pressed': String(sample.open), onclick: () => {
    tab.set('switchboard-language', sample.dataset.language);
    show(sample.dataset.language);
  } }, $('summary', sample).textContent);
  samples.prepend(h('div', { class: 'languages', role: 'group', 'aria-label': 'Language' }, $$('.sample', samples).map(choose)));
}
if (/^[a-z]+$/.test(tab.get('switchboard-language'))) show(tab.get('switchboard-language'));

// ---- Requests

const HEADERS = ['x-request-id', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'etag', 'retry-after', 'idempotent-replayed', 'content-type'];

const freshKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** The most characters of a stream that are shown: its end. */
const MAX_STREAM = 50000;

/** Shows the events of a stream as they come, until it ends or the reader stops it. */
const showStream = async (response, stopping, answer) => {
  const code = h('code', {});
  const state = h('p', {}, h('button', { type: 'button', onclick: () => stopping.abort() }, 'Stop'));
  answer.append(state, h('pre', { tabindex: '0' }, code));
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let shown = '';
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      shown = (shown + decoder.decode(part.value, { stream: true })).slice(-MAX_STREAM);
      code.textContent = shown;
    }
    state.replaceChildren('The stream has ended.');
  } catch (error) {
    state.replaceChildren(stopping.signal.aborted ? 'Stopped.' : `The stream broke off: ${error.message}`);
  }
};

/** Sends a request and shows its answer; returns the answer's JSON, if it is a success. */
const send = async ({ method, target, headers, body }, answer) => {
  const all = { ...headers };
  if (key.value.trim()) all.Authorization = `Bearer ${key.value.trim()}`;
  if (body) all['Content-Type'] = 'application/json';
  answer.replaceChildren(h('p', {}, 'Waiting …'));
  const started = performance.now();
  const stopping = new AbortController();
  try {
    const response = await fetch(target, { method, headers: all, body, signal: stopping.signal, cache: 'no-store', credentials: 'omit', redirect: 'manual' });
    const isStream = (response.headers.get('content-type') || '').startsWith('text/event-stream');
    const text = isStream ? '' : await response.text();
    const ms = Math.round(performance.now() - started);
    let json;
    try { json = JSON.parse(text); } catch { /* not JSON: shown as it is */ }
    const facts = HEADERS.filter((name) => response.headers.get(name)).map((name) => `${name}: ${response.headers.get(name)}`).join('\n');
    const code = json && json.error && json.error.code;
    answer.replaceChildren(
      h('p', {}, h('strong', { class: response.ok ? 'ok' : 'bad' }, `${response.status} ${response.statusText}`), ` in ${ms} ms`,
        typeof code === 'string' ? [' · ', h('a', { href: `/docs/errors/${encodeURIComponent(code)}` }, code)] : null),
      h('pre', { tabindex: '0' }, facts));
    if (text) {
      const pre = h('pre', { tabindex: '0' }, h('code', {}, json === undefined ? text : JSON.stringify(json, null, 2)));
      answer.append(pre);
      copyable(pre);
    }
    if (isStream) await showStream(response, stopping, answer);
    return response.ok ? json : undefined;
  } catch (error) {
    answer.replaceChildren(h('p', { class: 'bad' }, `No answer: ${error.message}`));
    return undefined;
  }
};

/** The items of a list, for a field that takes one of their ids. */
const items = async (path) => {
  if (!key.value.trim() || path.includes('{')) return [];
  const response = await fetch(`${path}?limit=50`, { headers: { Authorization: `Bearer ${key.value.trim()}` }, credentials: 'omit' });
  return response.ok ? (await response.json()).data || [] : [];
};

let fields = 0;

/** A field for a parameter. */
const field = (parameter, valueOf) => {
  const { parameter: name, in: place, words, list } = parameter.dataset;
  const required = 'required' in parameter.dataset;
  const id = `field-${++fields}`;
  const label = h('label', { for: id }, name, required ? h('b', { title: 'required' }, ' *') : null);
  let input;
  if (words) {
    input = h('select', { id }, h('option', { value: '' }, ''), words.split(' ').map((word) => h('option', {}, word)));
  } else {
    input = h('input', { id, type: 'text', spellcheck: 'false', autocomplete: 'off' });
    if (name === 'Idempotency-Key') input.value = freshKey();
  }
  const elements = [label, input];
  if (list && input.tagName === 'INPUT') {
    const choices = h('datalist', { id: `${id}-list` });
    input.setAttribute('list', choices.id);
    let asked = '';
    input.addEventListener('focus', async () => {
      const path = list.replace(/\{(\w+)\}/g, (all, other) => (valueOf(other) ? encodeURIComponent(valueOf(other)) : all));
      if (asked === path + key.value) return;
      asked = path + key.value;
      const found = await items(path).catch(() => []);
      const about = (item) => item.title || item.name || item.subject || item.displayName || item.email || item.url || item.provider || '';
      choices.replaceChildren(...found.filter((item) => item.id).map((item) => h('option', { value: item.id }, String(about(item)))));
    });
    elements.push(choices);
  }
  return { name, place, required, input, elements };
};

/** The request that the fields describe. */
const request = (operation, all, body) => {
  let { path } = operation.dataset;
  const query = new URLSearchParams();
  const headers = {};
  for (const { name, place, input } of all) {
    if (!input.value) continue;
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(input.value));
    if (place === 'query') query.set(name, input.value);
    if (place === 'header') headers[name] = input.value;
  }
  const text = query.toString();
  return { method: operation.dataset.method, target: path + (text ? `?${text}` : ''), headers, body: body && body.value.trim() ? body.value : undefined };
};

const curl = ({ method, target, headers, body }) => {
  const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
  const parts = [`curl ${method === 'GET' ? '' : `-X ${method} `}${quote(location.origin + target)}`, '-H "Authorization: Bearer $SWITCHBOARD_API_KEY"'];
  for (const [name, value] of Object.entries(headers)) parts.push(`-H ${quote(`${name}: ${value}`)}`);
  if (body) parts.push("-H 'Content-Type: application/json'", `-d ${quote(body)}`);
  return parts.join(' \\\n  ');
};

/** The form of an operation, made when it is opened. */
const form = (operation, into) => {
  const all = [];
  const valueOf = (name) => all.find((one) => one.name === name)?.input.value;
  for (const parameter of $$('[data-parameter]', operation)) all.push(field(parameter, valueOf));
  const body = operation.dataset.body ? h('textarea', { 'aria-label': 'Body', spellcheck: 'false' }) : null;
  if (body) body.value = operation.dataset.body;
  const answer = h('div', { 'aria-live': 'polite' });
  const line = h('pre', { tabindex: '0' });
  const refresh = () => { line.textContent = curl(request(operation, all, body)); };
  const button = h('button', { class: 'primary', type: 'button', onclick: async () => {
    const empty = all.find(({ required, input }) => required && !input.value);
    if (empty) {
      empty.input.focus();
      answer.replaceChildren(h('p', { class: 'bad' }, `${empty.name} is required`));
      return;
    }
    button.disabled = true;
    await send(request(operation, all, body), answer);
    button.disabled = false;
    // The next request is another one.
    for (const { name, input } of all) if (name === 'Idempotency-Key') input.value = freshKey();
    refresh();
  } }, 'Send');
  into.append(h('div', { class: 'form' }, all.map((one) => one.elements)), ...(body ? [body] : []), line, h('p', {}, button), answer);
  copyable(line);
  for (const input of [...all.map((one) => one.input), ...(body ? [body] : [])]) input.addEventListener('input', refresh);
  refresh();
};

for (const operation of $$('.op[data-path]')) {
  const box = h('details', { class: 'try' }, h('summary', {}, 'Try it'));
  box.addEventListener('toggle', () => { if (box.open && box.children.length === 1) form(operation, box); });
  $('.code', operation).prepend(box);
}

// ---- The steps of the first page

const kept = {};
const PLACEHOLDER = /CONNECTION_ID|CALENDAR_ID|WEBHOOK_ID/;
const filled = (text) => text.replace(new RegExp(PLACEHOLDER, 'g'), (name) => kept[name] || name);

for (const step of $$('.run')) {
  const answer = h('div', { 'aria-live': 'polite' });
  // A field of the body that the reader fills in.
  const { ask } = step.dataset;
  const own = ask && h('input', { id: `own-${++fields}`, type: 'text', spellcheck: 'false', autocomplete: 'off', value: JSON.parse(step.dataset.body)[ask] });
  const button = h('button', { class: 'primary', type: 'button', onclick: async () => {
    if (!key.value.trim()) {
      answer.replaceChildren(h('p', { class: 'bad' }, 'Enter your API key above.'));
      key.focus();
      return;
    }
    const target = filled(step.dataset.target);
    if (PLACEHOLDER.test(target)) {
      answer.replaceChildren(h('p', { class: 'bad' }, 'Run the steps before this one first: they give the id.'));
      return;
    }
    const { method, keep } = step.dataset;
    const body = step.dataset.body && JSON.parse(filled(step.dataset.body));
    if (own) body[ask] = own.value.trim();
    button.disabled = true;
    const headers = method === 'GET' ? {} : { 'Idempotency-Key': freshKey() };
    const json = await send({ method, target, headers, body: body && JSON.stringify(body) }, answer);
    button.disabled = false;
    if (!json || !keep) return;
    const [name, place] = keep.split('=');
    // Of a list, a name picks the first item in which it is true.
    const member = (part, name) => (Array.isArray(part) && !/^\d+$/.test(name) ? part.find((item) => item[name]) : part?.[name]);
    const value = place.split('.').reduce(member, json);
    if (typeof value !== 'string') return;
    kept[name] = value;
    for (const code of $$('.run code')) code.textContent = code.textContent.replaceAll(name, value);
  } }, 'Run');
  step.append(own ? h('p', {}, h('label', { for: own.id }, ask), ' ', own) : '', h('p', {}, button), answer);
}

// ---- Search

const search = $('#search');
const hits = $('#hits');
const RANK = { operation: 5, page: 4, error: 4, scope: 3, parameter: 2, field: 1 };
let index;

const load = async () => { index ??= fetch('/docs/search.json').then((response) => response.json()); return index; };

/** Whether two words differ by one letter at most: another one, one more, one less, or two swapped. */
const near = (one, other) => {
  if (Math.abs(one.length - other.length) > 1) return false;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  if (at === one.length && at === other.length) return true;
  const rest = [one.slice(at), other.slice(at)];
  return rest[0].slice(1) === rest[1].slice(1) || rest[0].slice(1) === rest[1] || rest[0] === rest[1].slice(1)
    || (rest[0][0] === rest[1][1] && rest[0][1] === rest[1][0] && rest[0].slice(2) === rest[1].slice(2));
};

const wordsOf = (text) => text.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);

/** How well a word fits a text: 4 whole, 3 as a beginning, 1 with a typing error, 0 not. */
const fit = (word, text) => {
  let best = word.length > 2 && text.toLowerCase().includes(word) ? 2 : 0;
  for (const own of wordsOf(text)) {
    if (own === word) return 4;
    if (own.startsWith(word)) best = Math.max(best, 3);
    else if (best < 1 && word.length > 3 && (near(word, own) || near(word, own.slice(0, word.length)))) best = 1;
  }
  return best;
};

const find = (entries, query) => {
  const words = query.toLowerCase().split(/[\s.]+/).filter(Boolean);
  const scored = [];
  for (const entry of entries) {
    const [kind, title, second, , text] = entry;
    let score = title.toLowerCase() === query.toLowerCase().trim() ? 1000 : 0;
    const fits = words.every((word) => {
      const best = Math.max(fit(word, title) * 100, fit(word, second) * 10, fit(word, text));
      score += best;
      return best > 0;
    });
    if (fits && words.length) scored.push([score + RANK[kind], entry]);
  }
  return scored.sort((one, other) => other[0] - one[0]).slice(0, 12).map(([, entry]) => entry);
};

const mark = (step) => {
  const links = $$('a', hits);
  const at = links.findIndex((link) => link.classList.contains('on'));
  links.forEach((link) => link.classList.remove('on'));
  const link = links[(at + step + links.length + (at < 0 && step < 0 ? 1 : 0)) % links.length];
  link?.classList.add('on');
  link?.scrollIntoView({ block: 'nearest' });
};

search.addEventListener('focus', load);
search.addEventListener('input', async () => {
  const query = search.value;
  const entries = await load().catch(() => []);
  if (query !== search.value) return;
  const found = find(entries, query);
  hits.replaceChildren(...found.map(([kind, title, second, link, text]) => h('li', {}, h('a', { href: link }, title, h('small', {}, [kind, second, text].filter(Boolean).join(' · '))))));
  if (!found.length) hits.append(h('li', {}, 'Nothing found'));
  hits.hidden = !query.trim();
});
search.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') { event.preventDefault(); mark(event.key === 'ArrowDown' ? 1 : -1); }
  if (event.key === 'Enter') ($('a.on', hits) || $('a', hits))?.click();
  if (event.key === 'Escape') hits.hidden = true;
});
addEventListener('click', (event) => { if (!event.target.closest('.find') || event.target.closest('#hits a')) hits.hidden = true; });
addEventListener('keydown', (event) => {
  if (event.key === '/' && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) { event.preventDefault(); search.focus(); }
});

// ---- Addresses of places

/** Opens what a place of the page is folded into; a place of the former single page leads to its page. */
const follow = async () => {
  let name = location.hash.slice(1);
  try { name = decodeURIComponent(name); } catch { /* not an address of ours */ }
  const place = name && document.getElementById(name);
  if (place) {
    for (let box = place; box; box = box.parentElement) if (box.tagName === 'DETAILS') box.open = true;
    place.scrollIntoView();
    return;
  }
  if (!name || location.pathname.replace(/\/$/, '') !== '/docs') return;
  if (name.startsWith('error-')) { location.replace(`/docs/errors/${encodeURIComponent(name.slice(6))}`); return; }
  const entries = await load().catch(() => []);
  // Headings of the former page are on `/docs/api`; guides may have headings of the same name.
  const ends = [`/docs/api#${name}`, `#${name}`];
  const entry = ends.map((end) => entries.find(([, , , link]) => link.endsWith(end))).find(Boolean);
  location.replace(entry ? entry[3] : `/docs/api#${encodeURIComponent(name)}`);
};

$('.tools').hidden = false;
if (matchMedia('(max-width: 60rem)').matches) $('.menu').open = false;
addEventListener('hashchange', follow);
follow();
