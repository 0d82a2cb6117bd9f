// Shows what it is sent, and tells the page.

async function show(push) {
  await self.registration.showNotification(push.title, {
    body: push.alert,
    image: push.image?.url,
    actions: (push.buttons ?? []).map(({ id, label }) => ({ action: id, title: label })),
    data: push,
  });
  for (const client of await self.clients.matchAll({ includeUncontrolled: true })) client.postMessage("shown");
}

self.addEventListener("push", (event) => event.waitUntil(show(event.data.json())));
