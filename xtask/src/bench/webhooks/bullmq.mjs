// The other side of the bench `webhooks`: queues of BullMQ whose jobs deliver the same bodies with the same signature.
//
// Its argument is JSON: { redisPort, receiver, secret, bodies, queues, concurrency, rate, seconds }. It prints `ready`, begins when a line
// comes on standard input, and ends with that. With `rate` 0 the jobs are added before, to queues that are paused until then, one for each
// body; else so many are added in each second, whether the earlier ones are done or not, and it prints `done` after `seconds`.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { Pool } from 'undici';

const CHUNK = 1000;
const options = JSON.parse(process.argv[2]);
const key = Buffer.from(options.secret.slice('whsec_'.length), 'base64');
const bodies = readFileSync(options.bodies, 'utf8').split('\n').filter((line) => line !== '');
const pool = new Pool(options.receiver, { connections: 64, pipelining: 1 });
const nowMs = () => performance.timeOrigin + performance.now();

// A connection of its own for each queue and each worker, as BullMQ makes them where it is given options.
const connect = () => new Redis({ host: '127.0.0.1', port: options.redisPort, maxRetriesPerRequest: null });

async function deliver(endpoint, { data, attemptsMade }) {
  const at = Math.floor(Date.now() / 1000);
  const mac = createHmac('sha256', key).update(`${data.id}.${at}.`).update(data.body).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'bullmq',
    'webhook-id': data.id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${mac}`,
    'webhook-attempt': String(attemptsMade + 1),
  };
  if (data.began !== undefined) headers['x-began-ms'] = String(data.began);
  const answer = await pool.request({ method: 'POST', path: `/${endpoint}`, headers, body: data.body });
  await answer.body.dump();
  if (answer.statusCode >= 300) throw new Error(`the endpoint answered ${answer.statusCode}`);
}

const queues = options.queues.map((endpoint) => new Queue(`endpoint-${endpoint}`, {
  connection: connect(),
  defaultJobOptions: { removeOnComplete: true, attempts: 12, backoff: { type: 'exponential', delay: 5000 } },
}));
const job = (number) => ({ name: 'deliver', data: { id: `ev_${number}`, body: bodies[number % bodies.length] } });

if (options.rate === 0) {
  await Promise.all(queues.map(async (queue) => {
    await queue.pause();
    for (let from = 0; from < bodies.length; from += CHUNK) {
      const count = Math.min(CHUNK, bodies.length - from);
      await queue.addBulk(Array.from({ length: count }, (_, n) => job(from + n)));
    }
  }));
}
const workers = options.queues.map((endpoint) => new Worker(
  `endpoint-${endpoint}`,
  (each) => deliver(endpoint, each),
  { connection: connect(), concurrency: options.concurrency },
));
for (const each of [...queues, ...workers]) each.on('error', (error) => console.error(error));
await Promise.all(workers.map((worker) => worker.waitUntilReady()));

const input = createInterface({ input: process.stdin });
input.on('close', () => process.exit(0));
console.log('ready');
await once(input, 'line');
if (options.rate === 0) {
  await Promise.all(queues.map((queue) => queue.resume()));
} else {
  const start = nowMs();
  const count = options.rate * options.seconds;
  const added = [];
  for (let number = 0; number < count; number += 1) {
    const wait = start + (number * 1000) / options.rate - nowMs();
    if (wait > 0) await sleep(wait);
    const { name, data } = job(number);
    added.push(queues[number % queues.length].add(name, { ...data, began: nowMs() }));
  }
  await Promise.all(added);
  console.log('done');
}
