// Notifications of this browser: the worker that shows them, and its subscription to web push.

// Pages with a policy about script addresses allow the name 'aerogram'.
let trusted;
// As the service writes keys.
const written = (key) => btoa(String.fromCharCode(...new Uint8Array(key))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '');
// Only a worker that is active can subscribe, and one that cannot be installed never is.
const active = async (registration) => {
  while (!registration.active) {
    const worker = registration.installing ?? registration.waiting;
    if (!worker || worker.state === 'redundant') throw new Error('The service worker could not be installed.');
    await new Promise((changed) => worker.addEventListener('statechange', changed, { once: true }));
  }
  return registration;
};

const makeSubscription = (state, options) => {
  // The script and the scope of a worker that the SDK registers.
  const place = () => {
    const { worker, scope, appKey } = options;
    const script = new URL(worker, location.href);
    script.searchParams.set('app', appKey);
    return { script, scope: new URL(scope ?? './', scope ? location.href : script).href };
  };

  // That of the page, or the one with just the scope of a worker of the SDK: others may cover the page.
  const registration = async () => {
    const worker = await options.worker;
    if (!worker || worker.scope) return worker;
    const { scope } = place();
    const found = await navigator.serviceWorker?.getRegistration(scope);
    return found?.scope === scope ? found : undefined;
  };

  // The one that was begun here, and nobody else's. If the page could not register its worker now, it is known by its key.
  const get = async () => {
    const key = await state.get('push');
    if (!key) return null;
    try {
      return await (await registration())?.pushManager?.getSubscription();
    } catch {
      const all = await navigator.serviceWorker?.getRegistrations() ?? [];
      const found = await Promise.all(all.map(({ pushManager }) => pushManager?.getSubscription()));
      return found.find((one) => one && written(one.options.applicationServerKey) === key);
    }
  };

  return {
    get,
    // The registration of the worker, registered by now.
    async worker() {
      const given = await options.worker;
      if (given.scope) return active(given);
      const { script, scope } = place();
      trusted ??= globalThis.trustedTypes?.createPolicy('aerogram', { createScriptURL: (url) => url });
      const url = trusted?.createScriptURL(script.href) ?? script.href;
      return active(await navigator.serviceWorker.register(url, { scope, updateViaCache: 'none' }));
    },
    async begin({ pushManager }, key) {
      const asked = { userVisibleOnly: true, applicationServerKey: key };
      await pushManager.subscribe(asked).catch(async () => {
        // One that was made with another key is in the way.
        await (await pushManager.getSubscription())?.unsubscribe();
        return pushManager.subscribe(asked);
      });
      // The worker subscribes with it when the browser drops the subscription.
      await state.put('push', key);
    },
    async end() { await (await get())?.unsubscribe(); },
  };
};
