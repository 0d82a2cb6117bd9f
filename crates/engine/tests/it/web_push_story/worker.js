// The worker of the SDK, as it comes from the service that the page names, and what happens to it in a browser.

importScripts(`${new URL(self.location).searchParams.get("service")}/sdk/1/aerogram-sw.js`);

const happens = {
  async click(action) {
    const [notification] = await self.registration.getNotifications();
    self.dispatchEvent(new NotificationEvent("notificationclick", { notification, action }));
  },
  async drop() {
    await (await self.registration.pushManager.getSubscription()).unsubscribe();
    // No more than some browsers tell: neither the old subscription nor a new one.
    self.dispatchEvent(new ExtendableEvent("pushsubscriptionchange"));
  },
};

self.addEventListener("message", (event) => event.waitUntil(happens[event.data.name](event.data.detail)));
