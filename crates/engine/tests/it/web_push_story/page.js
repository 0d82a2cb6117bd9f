// Subscribes, says what the worker has shown, and unsubscribes. The test calls these functions.

const registered = navigator.serviceWorker.register("worker.js").then(() => navigator.serviceWorker.ready);

// Resolved when the worker has shown a message.
const received = new Promise((resolve) => {
  navigator.serviceWorker.addEventListener("message", (event) => resolve(event.data));
});

async function subscribe(applicationServerKey) {
  const registration = await registered;
  const subscription = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
  return subscription.toJSON();
}

async function shown() {
  await received;
  const notifications = await (await registered).getNotifications();
  return notifications.map(({ title, body, image, actions, data }) => ({
    title, body, image, actions: (actions ?? []).map(({ action, title }) => [action, title]), data,
  }));
}

async function unsubscribe() {
  const subscription = await (await registered).pushManager.getSubscription();
  return subscription.unsubscribe();
}
