// SPDX-License-Identifier: Apache-2.0
// Beside crawl_event.js, made of spec/crawl_event.capnp by capnp-es, and its node_modules:
//   node events.mjs write OUT   writes a stream of events of every kind, and prints them
//   node events.mjs read IN     prints the events of a stream
// A line of JSON an event: bytes as hexadecimal digits, numbers of 64 bits as text.
import fs from 'node:fs';
import { Message } from 'capnp-es';
import { Event, EventBatch } from './crawl_event.js';

const kinds = ['page', 'known', 'gone', 'failed', 'linkAdded', 'linkRemoved', 'unchanged', 'redirect',
  'denied', 'duplicate'];

function hex(bytes) {
  return Buffer.from(bytes).toString('hex');
}

function link(url, score, index = 0n) {
  return { url: hex(url), index: `${index}`, score };
}

function event(kind, fields) {
  const empty = {
    url: '', index: '0', timeUs: '0', score: 0, contentHash: '', httpStatus: 0, links: [],
  };
  return { kind, ...empty, ...fields };
}

// Three messages: of every kind, with the largest numbers; one of a page with many links; one without
// events.
function examples() {
  const url = (text) => hex(Buffer.from(text));
  const anyBytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  const page = event('page', {
    url: url('http://example.org/\u00e9?q=1#f'),
    timeUs: '1700000000000001',
    score: 0.5,
    contentHash: hex(anyBytes.slice(192)),
    links: [link(Buffer.from('http://a.example/'), 0.25), link(anyBytes, -1.5)],
  });
  const first = [
    page,
    event('known', { url: url('http://example.org/seed'), score: 3.4028234663852886e38 }),
    event('gone', { index: `${2n ** 64n - 1n}`, timeUs: `${2n ** 63n - 1n}` }),
    event('failed', { url: hex(anyBytes), timeUs: '1' }),
    event('linkAdded', { index: '7', links: [link('', 1.401298464324817e-45, 2n ** 63n)] }),
    event('linkRemoved', { url: url('http://example.org/'), links: page.links }),
    event('unchanged', { index: '3', timeUs: '5', httpStatus: 304 }),
    event('redirect', { url: url('http://a.example/'), httpStatus: 65535, links: [page.links[0]] }),
    event('denied', { index: '1' }),
    event('duplicate', { index: '2', contentHash: '00' }),
    event('page', {}),
  ];
  const many = Array.from({ length: 3000 }, (_, i) => link(Buffer.from(`http://h/${i}`), i / 4));
  return [first, [event('page', { url: url('http://hub.example/'), links: many })], []];
}

function writeData(bytes, init) {
  if (bytes.length === 0) return;
  const data = Uint8Array.from(Buffer.from(bytes, 'hex'));
  init(data.length).copyBuffer(data);
}

function encode(events) {
  const message = new Message();
  const list = message.initRoot(EventBatch)._initEvents(events.length);
  events.forEach((given, i) => {
    const out = list.get(i);
    out.kind = kinds.indexOf(given.kind);
    out.index = BigInt(given.index);
    out.timeUs = BigInt(given.timeUs);
    out.score = given.score;
    out.httpStatus = given.httpStatus;
    writeData(given.url, (length) => out._initUrl(length));
    writeData(given.contentHash, (length) => out._initContentHash(length));
    if (given.links.length === 0) return;
    const links = out._initLinks(given.links.length);
    given.links.forEach((target, j) => {
      const outLink = links.get(j);
      outLink.index = BigInt(target.index);
      outLink.score = target.score;
      writeData(target.url, (length) => outLink._initUrl(length));
    });
  });
  return Buffer.from(message.toArrayBuffer());
}

function print(events) {
  for (const shown of events) fs.writeSync(1, `${JSON.stringify(shown)}\n`);
}

function write(path) {
  const batches = examples();
  fs.writeFileSync(path, Buffer.concat(batches.map(encode)));
  batches.forEach(print);
}

// The messages of a stream, by their framing: a count of segments less one, and their words.
function* messages(stream) {
  for (let begin = 0; begin < stream.length; ) {
    const segments = stream.readUInt32LE(begin) + 1;
    let end = begin + Math.ceil((4 + 4 * segments) / 8) * 8;
    for (let i = 0; i < segments; i += 1) end += stream.readUInt32LE(begin + 4 + 4 * i) * 8;
    yield Uint8Array.from(stream.subarray(begin, end)).buffer;
    begin = end;
  }
}

function read(path) {
  for (const buffer of messages(fs.readFileSync(path))) {
    const batch = new Message(buffer, false).getRoot(EventBatch);
    for (const given of batch.events) {
      const links = Array.from(given.links, (target) => ({
        url: hex(target.url.toUint8Array()),
        index: `${target.index}`,
        score: target.score,
      }));
      print([{
        kind: kinds[given.kind],
        url: hex(given.url.toUint8Array()),
        index: `${given.index}`,
        timeUs: `${given.timeUs}`,
        score: given.score,
        contentHash: hex(given.contentHash.toUint8Array()),
        httpStatus: given.httpStatus,
        links,
      }]);
    }
  }
}

if (Object.keys(Event.Kind).length !== kinds.length) throw new Error('other kinds than listed here');
const [mode, path] = process.argv.slice(2);
({ write, read })[mode](path);
