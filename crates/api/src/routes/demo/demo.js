// The demonstration: this page is a device by the SDK, or plays a phone, asks for a push to itself, and shows each stage of it.
import { Aerogram } from '/sdk/1/aerogram.js';

const at = (id) => document.getElementById(id);
const [, key, code] = /^#([\w-]{22})\.([\w-]{22})$/.exec(location.hash) ?? [];
const headers = { Authorization: `Basic ${btoa(`${key}:${code}`)}`, 'Content-Type': 'application/json' };
const pause = (time) => new Promise((done) => setTimeout(done, time));
let began;
let waited;

const trouble = (text) => {
  at('trouble').textContent = text;
  at('trouble').hidden = !text;
};
const line = (list, text) => {
  const item = document.createElement('li');
  item.textContent = text;
  at(list).prepend(item);
  while (at(list).children.length > 8) at(list).lastChild.remove();
  return item;
};
const note = (text) => line('events', `${new Date().toLocaleTimeString()} ${text}`);
const stage = (name) => {
  const shown = document.querySelector(`[data-stage=${name}]`);
  if (began === undefined || shown.classList.contains('done')) return;
  shown.classList.add('done');
  shown.querySelector('b').textContent = Math.round(performance.now() - began);
};

const show = (push, clicked) => {
  const item = line('shown', '');
  const title = document.createElement('b');
  title.textContent = push.title ?? 'Aerogram';
  item.append(title, push.alert ?? '');
  const buttons = document.createElement('div');
  buttons.className = 'buttons';
  for (const { id, label } of push.buttons ?? []) {
    const button = document.createElement('button');
    button.textContent = label;
    button.onclick = () => {
      clicked(push.push_id, id).then(() => note(`button ${id}: a direct response`), (error) => trouble(error.message));
      item.remove();
    };
    buttons.append(button);
  }
  item.append(buttons);
};

const call = async (path, body, more) => {
  const answer = await fetch(path, { method: body ? 'POST' : 'GET', headers: { ...headers, ...more }, body: body && JSON.stringify(body) });
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error);
  return told;
};

// What the service knows of the push, until it is over or another one was sent. It is asked less and less often.
const follow = async (id) => {
  for (let wait = 15; waited === id; wait = Math.min(wait * 1.1, 1000)) {
    const { push } = await call(`/demo/push/${id}`);
    if (push.total.targeted) stage('chosen');
    if (push.total.delivered) stage('delivered');
    if (push.state === 'done' || push.state === 'canceled') return;
    await pause(wait);
  }
};

const receive = (push, clicked) => {
  // What is here was delivered, whether or not the service has been asked meanwhile.
  ['accepted', 'chosen', 'delivered', 'received'].forEach(stage);
  show(push, clicked);
  note(`received "${push.alert}"`);
};

// A phone that this page plays: a channel of that type, which is uninstalled when the page plays something else.
const phone = async (type, changed) => {
  const { channel_id: id, token } = await call(`/demo/phones/${type}`, {});
  const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/live`, ['aerogram.live.1', `token.${token}`]);
  let isLive = false;
  const own = { Authorization: `Bearer ${token}` };
  const clicked = (push, button) => call('/warp9', [{ type: 'push_click', data: { push_id: push, button_id: button } }], own);
  socket.onmessage = ({ data }) => {
    const { type: told, at: position, push } = JSON.parse(data);
    if (told === 'hello') changed(isLive = true);
    if (told === 'push') {
      receive(push, clicked);
      socket.send(JSON.stringify({ ack: position }));
    }
  };
  socket.onclose = () => changed(isLive = false);
  const end = () => {
    socket.close();
    removeEventListener('pagehide', end);
    fetch(`/api/channels/${id}`, { method: 'DELETE', keepalive: true, headers: own }).catch(() => {});
  };
  addEventListener('pagehide', end);
  return { type, id, end, get isLive() { return isLive; } };
};

const begin = async () => {
  const push = await Aerogram.init({ url: location.origin, appKey: key, worker: '/sdk/1/aerogram-sw.js', scope: '/demo' });
  let problem;
  push.addEventListener('error', ({ detail }) => trouble(problem = detail.error.message));
  const page = { type: 'web', end() {}, get id() { return push.channelId; }, get isLive() { return push.connected; } };
  let device = page;
  const live = () => {
    const { type, id, isLive } = device;
    at('live').dataset.state = isLive ? 'on' : 'off';
    at('live').textContent = isLive ? 'connected' : 'not connected';
    document.querySelector('#send button').disabled = !isLive;
    if (isLive) trouble('');
    at('kind').textContent = type;
    at('channel').textContent = id ?? 'none';
    const body = { audience: { channel: id }, device_types: [type], notification: { alert: 'Hello from my server' } };
    at('curl').textContent = `curl ${location.origin}/api/push -u "${key}:$AEROGRAM_MASTER_SECRET" -d '${JSON.stringify(body)}'`;
  };
  const become = async (type) => {
    device.end();
    device = page;
    if (type !== page.type) device = await phone(type, live);
    note(`this page is ${type}`);
    live();
  };
  const refresh = async () => {
    const messages = await push.inbox.list();
    at('inbox').replaceChildren();
    if (!messages.length) line('inbox', 'No messages').className = 'quiet';
    for (const { title, unread } of messages.reverse()) line('inbox', `${title}${unread ? ' (unread)' : ''}`);
  };
  push.addEventListener('live', live);
  push.addEventListener('message', ({ detail }) => receive(detail.push, (id, button) => push.clicked(id, { button })));
  push.addEventListener('inbox', refresh);
  push.addEventListener('push', ({ detail }) => note(`notification "${detail.push.alert}"`));
  push.addEventListener('click', ({ detail }) => note(`click ${detail.button ?? ''}`));
  if (!push.channelId) trouble('This page could not register. Is the origin of this page allowed in the app?');
  note('registered');
  live();

  at('send').addEventListener('submit', async (event) => {
    event.preventDefault();
    for (const shown of document.querySelectorAll('[data-stage]')) {
      shown.classList.remove('done');
      shown.querySelector('b').textContent = '–';
    }
    began = performance.now();
    try {
      const { push_ids: [id] } = await call('/demo/push', { channel_id: device.id, alert: at('text').value });
      stage('accepted');
      await follow(waited = id);
    } catch (error) {
      trouble(error.message);
    }
  });
  let turn = Promise.resolve();
  for (const kind of document.querySelectorAll('[name=kind]')) {
    kind.addEventListener('change', () => {
      at('screen').className = `screen ${kind.value}`;
      // One after the other, however quickly somebody chooses.
      turn = turn.then(() => become(kind.value)).catch((error) => trouble(error.message));
    });
  }
  at('setup').textContent = `aerogram platform set ${key} webpush --subject mailto:you@example.com`;
  at('allow').addEventListener('click', async () => {
    problem = undefined;
    const permission = await push.enablePush().catch((error) => error.message);
    at('allowed').textContent = permission === 'granted' ? `granted. ${problem ?? 'Web push is set up.'}` : permission;
  });
};

at('copy').addEventListener('click', async () => {
  const tell = (text) => () => { at('copied').textContent = text; };
  // There is no clipboard without https.
  const copying = navigator.clipboard?.writeText(at('curl').textContent) ?? Promise.reject();
  await copying.then(tell('Copied.'), tell('Not copied; mark it by hand.'));
});
at('clock').textContent = new Date().toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });

const fail = (text) => {
  trouble(text);
  for (const control of document.querySelectorAll('fieldset, #allow')) control.disabled = true;
};
if (!key) fail('This link has no code. Open the one that the first start has printed; "aerogram app demo KEY" prints it again.');
else if (isSecureContext) begin().catch((error) => fail(error.message));
else fail('This page needs https, as a page and as a phone that it plays. Browsers take it over http only from http://localhost.');
