// The service worker of Aerogram: shows what a push brings, tells the service what became of it, and opens pages. A page registers
// it with the key of the app as ?app=…; a worker of your own says self.aerogramApp = 'KEY' before it takes this file in. What is
// served is this file with the parts after it that it shares with pages, in a block: a worker of the site keeps its own names.

// A worker of the site has other pushes and notifications as well, and takes over when the site wants.
const isShared = Boolean(self.aerogramApp);
const key = self.aerogramApp ?? new URL(self.location).searchParams.get('app');
const open = () => State.open(key);

// As the channel of this browser, if it has one.
const call = async (method, path, body) => {
  const state = await open();
  const [service, channel] = [await state.get('service'), await state.get('channel')];
  if (!service || !channel) return;
  const headers = secretOf(service.appKey, channel);
  await send(service.url, method, path.replace('{id}', channel.id), body, { headers, keepalive: true });
};

// A receipt that cannot be sent waits in the queue of the page.
const tell = async (type, { push_id: push }, more) => {
  if (!push) return;
  const event = happened(type, { push_id: push, ...more });
  const keep = async (error) => passes(error) && (await open()).add({ event }, true);
  await call('POST', '/api/web-events', [event]).catch(keep).catch(() => {});
};

const pages = () => self.clients.matchAll({ type: 'window', includeUncontrolled: true });
// Pages of other apps are among them.
const toPages = async (message) => (await pages()).forEach((page) => page.postMessage({ aerogram: message, app: key }));

const read = (data) => {
  if (!data) return {};
  try {
    const push = data.json();
    if (push && typeof push === 'object') return push;
  } catch { /* Shown as text. */ }
  return { alert: data.text() };
};

// What cannot be stored is shown, and opened, all the same.
const show = async (push) => {
  const isSeen = await open().then((state) => state.isSeen(push.push_id)).catch(() => false);
  // The browser shows a notice of its own if nothing is shown, so a push that a page has shown already is shown quietly.
  await self.registration.showNotification(push.title ?? self.aerogramTitle ?? self.location.hostname, {
    body: push.alert ?? '', icon: push.icon?.url, image: push.image?.url,
    tag: push.push_id, requireInteraction: push.require_interaction ?? false, silent: isSeen || undefined,
    data: { ...push, aerogram: key },
    actions: (push.buttons ?? []).slice(0, 2).map(({ id, label }) => ({ action: id, title: label })),
  });
  await Promise.all([tell('push_received', push), toPages({ type: 'push', push, isSeen })]);
};

const target = (actions = {}) => {
  const page = actions['^p'];
  const url = actions['^u'] ?? actions['^d'] ?? page?.url ?? page;
  return typeof url === 'string' ? url : undefined;
};

const visit = async (url) => {
  const wanted = new URL(url ?? self.aerogramHome ?? '/', self.location.origin);
  if (!/^https?:$/.test(wanted.protocol)) return;
  const all = await pages();
  const same = all.find((page) => page.url === wanted.href)
    ?? (url ? undefined : all.find((page) => new URL(page.url).origin === wanted.origin));
  await (same ? same.focus() : self.clients.openWindow(wanted));
};

const click = async (push, action) => {
  const button = push.buttons?.find(({ id }) => id === action);
  const own = target(button?.actions);
  const opens = own || !button?.background;
  const noted = { push: push.push_id, at: Date.now() };
  // The session of the page that comes to the front has it.
  if (opens) await open().then(async (state) => await state.get('channel') && state.put('click', noted)).catch(() => {});
  // Told first, because a browser may refuse to open a page; not waited for, because it refuses soon after the click.
  const told = tell('push_click', push, action ? { button_id: action } : {});
  const shown = toPages({ type: 'click', push, button: action || undefined });
  if (opens) await visit(own ?? target(push.actions)).catch(() => {});
  await Promise.all([told, shown]);
};

const onNotification = (type, act) => self.addEventListener(type, (event) => {
  const { aerogram, ...push } = event.notification.data ?? {};
  // Those that an earlier version has shown do not say whose they are.
  if (aerogram === key || (!isShared && !aerogram && push.push_id)) event.waitUntil(act(push, event));
});

self.addEventListener('push', (event) => {
  const push = read(event.data);
  if (push.push_id || !isShared) event.waitUntil(show(push));
});
onNotification('notificationclick', (push, { notification, action }) => {
  notification.close();
  return click(push, action);
});
onNotification('notificationclose', (push) => tell('push_dismiss', push));
self.addEventListener('pushsubscriptionchange', (event) => event.waitUntil((async () => {
  // The page has kept the key of the service: not every browser says how the old subscription was made.
  const state = await open();
  const applicationServerKey = await state.get('push');
  if (!applicationServerKey) return;
  const options = { userVisibleOnly: true, applicationServerKey };
  const { endpoint, keys } = (event.newSubscription ?? await self.registration.pushManager.subscribe(options)).toJSON();
  const channel = { device_type: 'web', opt_in: true, push_address: endpoint, web: { subscription: keys } };
  // Whatever becomes of it, the next page registers anew.
  await call('PUT', '/api/channels/{id}', { channel }).finally(() => state.put('registered'));
})()));
if (!isShared) {
  self.addEventListener('install', () => self.skipWaiting());
  self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
}
