// The service worker of Aerogram: shows what a push brings, tells the service what became of it, and opens pages. A page registers
// it with the key of the app as ?app=…; a worker of your own says self.aerogramApp = 'KEY' before it takes this file in.

(() => {
  // A worker of the site has other pushes and notifications as well, and takes over when the site wants.
  const isShared = Boolean(self.aerogramApp);
  const key = self.aerogramApp ?? new URL(self.location).searchParams.get('app');
  const [MOST_SEEN, MOST_QUEUED, NO_PATH] = [100, 500, 40400];
  const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const open = () => {
    const opening = indexedDB.open(`aerogram-${key}`, 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore('state');
      opening.result.createObjectStore('queue', { autoIncrement: true });
    };
    return done(opening);
  };
  const get = async (name) => done((await open()).transaction('state').objectStore('state').get(name));
  const put = async (name, value) => done((await open()).transaction('state', 'readwrite').objectStore('state').put(value, name));

  const send = async (method, path, body) => {
    const [service, channel] = await Promise.all([get('service'), get('channel')]);
    if (!service || !channel) return undefined;
    const headers = {
      Authorization: `Basic ${btoa(`${channel.id}:${channel.secret}`)}`,
      'X-UA-App-Key': service.appKey, 'Content-Type': 'application/json',
    };
    return fetch(service.url + path.replace('{id}', channel.id), { method, headers, body: JSON.stringify(body), keepalive: true });
  };

  // In the queue of the page.
  const keep = async (event) => {
    const both = (await open()).transaction(['state', 'queue'], 'readwrite');
    const queue = both.objectStore('queue');
    // Of a browser that was forgotten nothing is kept.
    if (!await done(both.objectStore('state').get('channel'))) return;
    await done(queue.add({ event }));
    if (await done(queue.count()) > MOST_QUEUED) (await done(queue.openCursor())).delete();
  };

  // A receipt that cannot be sent waits. An answer without a number of the service is a proxy's.
  const tell = async (type, { push_id: push }, more) => {
    if (!push) return;
    const event = { type, event_id: crypto.randomUUID(), time: (Date.now() / 1000).toFixed(3), data: { push_id: push, ...more } };
    const answer = await send('POST', '/api/web-events', [event]).catch(() => undefined);
    if (answer?.ok) return;
    const { error_code: code } = await answer?.json().catch(() => {}) ?? {};
    if (!code || code === NO_PATH || answer.status >= 500 || answer.status === 429) await keep(event).catch(() => {});
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

  // Whether a page was told of a push. It is noted for the next time.
  const isTold = async (id) => {
    const state = (await open()).transaction('state', 'readwrite').objectStore('state');
    const seen = await done(state.get('seen')) ?? [];
    if (seen.includes(id)) return true;
    if (id) await done(state.put([...seen, id].slice(-MOST_SEEN), 'seen'));
    return false;
  };

  // What cannot be stored is shown, and opened, all the same.
  const show = async (push) => {
    const isSeen = await isTold(push.push_id).catch(() => false);
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
    if (opens) await get('channel').then((channel) => channel && put('click', noted)).catch(() => {});
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
    const applicationServerKey = await get('push');
    if (!applicationServerKey) return;
    const options = { userVisibleOnly: true, applicationServerKey };
    const { endpoint, keys } = (event.newSubscription ?? await self.registration.pushManager.subscribe(options)).toJSON();
    const channel = { device_type: 'web', opt_in: true, push_address: endpoint, web: { subscription: keys } };
    await send('PUT', '/api/channels/{id}', { channel });
    await put('registered', undefined);
  })()));
  if (isShared) return;
  self.addEventListener('install', () => self.skipWaiting());
  self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
})();
