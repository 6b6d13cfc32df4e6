// JSON Schema as a reader wants it: the name of a type, its fields as a tree that opens on demand, an example value.

let schemas = {};

export function setSchemas(all) { schemas = all; }

/** An element; text is always text, never markup. */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

/** Text with `code` in it. */
export function inline(text) {
  return String(text || '').split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (part.startsWith('`') && part.length > 2) return h('code', null, part.slice(1, -1));
    if (part.startsWith('**') && part.length > 4) return h('strong', null, part.slice(2, -2));
    return part;
  });
}

export function nameOf(schema) {
  return schema && schema.$ref ? schema.$ref.split('/').pop() : null;
}

export function resolve(schema) {
  const name = nameOf(schema);
  return name ? schemas[name] || {} : schema || {};
}

/** The schema without "or null", and whether null was possible. */
function settled(schema) {
  const options = schema.anyOf || schema.oneOf;
  if (options && options.some((o) => o.type === 'null')) {
    const rest = options.filter((o) => o.type !== 'null');
    if (rest.length === 1) return [rest[0], true];
  }
  if (Array.isArray(schema.type) && schema.type.includes('null')) {
    const types = schema.type.filter((t) => t !== 'null');
    return [{ ...schema, type: types.length === 1 ? types[0] : types }, true];
  }
  return [schema, false];
}

/** The values of a closed list; null if it is none. */
function values(schema) {
  const full = resolve(schema);
  if (full.enum) return full.enum;
  if (full.const !== undefined) return [full.const];
  const options = full.oneOf || full.anyOf;
  if (!options) return null;
  const all = options.map((o) => (o.const !== undefined ? [o.const] : o.enum));
  return all.every(Boolean) ? all.flat() : null;
}

export function typeName(schema) {
  const [own, nullable] = settled(schema || {});
  const or = nullable ? ' | null' : '';
  const closed = values(own);
  if (closed) return closed.map((v) => JSON.stringify(v)).join(' | ') + or;
  const full = resolve(own);
  if (full.type === 'array') {
    const item = typeName(full.items || {});
    return (item.includes(' | ') ? `(${item})` : item) + '[]' + or;
  }
  if (nameOf(own) === 'Instant') return 'instant' + or;
  if (nameOf(own)) return nameOf(own) + or;
  if (own.anyOf) return own.anyOf.map(typeName).join(' | ') + or;
  if (full.type === 'object' && full.additionalProperties && !full.properties) return `{ [name]: ${typeName(full.additionalProperties === true ? {} : full.additionalProperties)} }` + or;
  return (full.type ? String(full.type) : 'any') + or;
}

/** The object behind a property, through arrays and "or null"; null if there is none to open. */
function inner(schema) {
  let own = settled(schema || {})[0];
  let full = resolve(own);
  while (full.type === 'array') {
    own = settled(full.items || {})[0];
    full = resolve(own);
  }
  return full.properties && Object.keys(full.properties).length ? full : null;
}

/** The fields of an object. What is inside a field is drawn when it is opened: types can contain themselves. */
export function fields(schema, showRequired) {
  const full = inner(schema);
  if (!full) return h('p', null, h('code', null, typeName(schema)));
  const required = new Set(full.required || []);
  // An answer has all its fields: to say so at each one tells nothing.
  showRequired = showRequired && required.size + 2 < Object.keys(full.properties).length;
  return h('ul', { class: 'fields' }, Object.entries(full.properties).map(([name, property]) => {
    const own = settled(property)[0];
    const below = inner(property);
    const described = property.description || (nameOf(own) === 'Instant' ? '' : resolve(own).description);
    const item = h('li', null,
      h('span', { class: 'name' }, name), h('span', { class: 'type' }, typeName(property)),
      showRequired && required.has(name) ? h('span', { class: 'must' }, 'required') : null,
      property.readOnly ? h('span', { class: 'ro' }, 'read-only') : null,
      property.default !== undefined ? h('span', { class: 'ro' }, 'default ', h('code', null, JSON.stringify(property.default))) : null,
      described ? h('p', null, inline(described)) : null);
    if (below) item.append(lazy('fields', () => fields(property, showRequired)));
    return item;
  }));
}

/** A disclosure whose content is made when it is first opened. */
export function lazy(title, make, attributes) {
  const element = h('details', attributes || { class: 'plain' }, h('summary', null, title));
  element.addEventListener('toggle', () => {
    if (element.open && element.children.length === 1) element.append(make());
  });
  return element;
}

const COMMON = ['title', 'name', 'subject', 'to', 'body', 'displayName', 'emails', 'unread', 'start', 'end', 'timeZone', 'comment', 'mode', 'dueDate', 'url', 'checked'];

const tomorrow = (hour) => {
  const day = new Date(Date.now() + 86400000);
  day.setUTCHours(hour, 0, 0, 0);
  return day.toISOString();
};

const KNOWN = {
  start: () => tomorrow(9), end: () => tomorrow(10), timeZone: () => 'Europe/Berlin', title: () => 'Lunch', name: () => 'Team', subject: () => 'Hello',
  comment: () => 'See you there', displayName: () => 'Ada Lovelace', provider: () => 'dav', scopes: () => ['calendar.read', 'calendar.write'],
  credentials: () => ({ username: 'ada', password: '…' }), settings: () => ({ serverUrl: 'https://dav.example.org' }),
  to: () => [{ email: 'ada@example.org' }], emails: () => [{ value: 'ada@example.org', type: 'work' }], inviteeEmail: () => 'ada@example.org',
  email: () => 'ada@example.org', dueDate: () => tomorrow(9).slice(0, 10), url: () => 'https://example.org/', redirectUri: () => 'https://example.org/return',
  eventTypes: () => ['calendar.event.*'], slug: () => 'intro-call', durationMinutes: () => 30, connectionId: () => 'conn_…', eventTypeId: () => 'et_…',
  targets: () => [{ connectionId: 'conn_…' }], participants: () => [{ members: [{ connectionId: 'conn_…' }], required: 'all' }], hosts: () => [{ connectionId: 'conn_…' }],
  grant_type: () => 'authorization_code', body: () => ({ text: 'Hello' }),
};

/** A body to start from: what is required, and what most callers set. */
export function example(schema) {
  const full = resolve(settled(schema)[0]);
  const required = new Set(full.required || []);
  const wanted = ([name]) => required.has(name) || COMMON.includes(name) || (name === 'settings' && required.has('credentials'));
  const place = ([name]) => (COMMON.includes(name) ? COMMON.indexOf(name) : -1);
  const chosen = Object.entries(full.properties || {}).filter(wanted).sort((a, b) => place(a) - place(b));
  return Object.fromEntries(chosen.map(([name, property]) => [name, value(name, property)]));
}

function value(name, schema) {
  if (KNOWN[name]) return KNOWN[name]();
  const own = settled(schema)[0];
  if (schema.default !== undefined) return schema.default;
  const closed = values(own);
  if (closed) return closed[0];
  const full = resolve(own);
  if (full.example !== undefined) return full.example;
  switch (full.type) {
    case 'array': return [];
    case 'boolean': return false;
    case 'integer': case 'number': return 0;
    case 'object': return {};
    default: return '';
  }
}
