// A page that uses the SDK of the service that its address names. The test calls these functions.

const asked = new URLSearchParams(location.search);
const service = asked.get("service");
const scope = asked.get("scope");

// What the SDK has told, until a function takes it.
const told = { push: [], click: [], message: [] };

const starting = import(`${service}/sdk/1/aerogram.js`).then(async ({ Aerogram }) => {
  // Where the worker of the SDK has a part of the site only, another one covers the page.
  if (scope !== "/") {
    const policy = globalThis.trustedTypes?.createPolicy("page", { createScriptURL: (url) => url });
    await navigator.serviceWorker.register(policy?.createScriptURL("/other.js") ?? "/other.js");
    await navigator.serviceWorker.ready;
  }
  // Without a connection all there is comes by web push.
  const live = asked.get("live") === "true";
  const worker = `/worker.js?service=${encodeURIComponent(service)}`;
  const push = await Aerogram.init({ url: service, appKey: asked.get("key"), live, worker, scope });
  for (const type of Object.keys(told)) push.addEventListener(type, ({ detail }) => told[type].push(detail));
  return push;
});

const registration = () => navigator.serviceWorker.getRegistration(scope);

async function next(type) {
  while (!told[type].length) await new Promise((done) => setTimeout(done, 20));
  return told[type].shift();
}

async function enable() {
  const push = await starting;
  const permission = await push.enablePush();
  while (asked.get("live") === "true" && !push.connected) await new Promise((done) => setTimeout(done, 20));
  return { permission, channel: push.channelId };
}

async function disable() {
  await (await starting).disablePush();
}

// What the worker has shown of the next push.
async function shown() {
  const { push } = await next("push");
  const all = await (await registration()).getNotifications();
  const { title, body, image, actions, data } = all.find((notification) => notification.data.push_id === push.push_id);
  return { title, body, image, actions: (actions ?? []).map((one) => [one.action, one.title]), data };
}

async function inWorker(name, detail) {
  (await registration()).active.postMessage({ name, detail });
}

async function click(button) {
  await inWorker("click", button);
  const clicked = await next("click");
  return [clicked.push.push_id, clicked.button];
}

// The browser alone, without the SDK.
async function unsubscribe() {
  const subscription = await (await registration()).pushManager.getSubscription();
  return subscription.unsubscribe();
}

// The scopes of the workers that have a subscription.
async function subscribed() {
  const all = await navigator.serviceWorker.getRegistrations();
  const found = await Promise.all(all.map(async ({ scope: of, pushManager }) => (await pushManager.getSubscription()) && of));
  return found.filter(Boolean).map((of) => of.replace(location.origin, ""));
}
