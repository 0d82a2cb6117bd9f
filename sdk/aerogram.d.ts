// Types of aerogram.js.

export interface InitOptions {
  /** Where the service is: `https://push.example.com`. */
  url: string;
  /** The key of the app. It is public. */
  appKey: string;
  /** The service worker of the page, on its own origin, to be registered; `/aerogram-sw.js` unless told. Or its registration. */
  worker?: string | ServiceWorkerRegistration | Promise<ServiceWorkerRegistration>;
  /** The scope of a service worker that is to be registered; that of its folder unless told. */
  scope?: string;
  /** Whether pages that are open get messages over a connection; true unless told. */
  live?: boolean;
  /** When to suggest notifications, by the event `prompt`: from which session on; never without it. */
  prompt?: { visits?: number; seconds?: number; againAfterDays?: number };
  /** With `required` nothing is sent before `consent(true)`. */
  consent?: 'required';
}

/** What a push brings. */
export interface Push {
  push_id: string;
  alert?: string;
  title?: string;
  icon?: { url: string };
  image?: { url: string };
  actions?: Record<string, unknown>;
  buttons?: { id: string; label: string; actions?: Record<string, unknown>; background?: boolean }[];
  extra?: Record<string, string>;
  /** The id of its message in the inbox. */
  _uamid?: string;
  [key: string]: unknown;
}

export interface InboxMessage {
  id: string;
  title: string;
  sent: Date;
  unread: boolean;
  extra?: Record<string, string>;
}

export interface InboxText {
  id: string;
  title: string;
  /** As it was sent: HTML of the sender, to be shown in a sandboxed frame. */
  body?: string;
  type: string;
  sent: Date;
  unread: boolean;
}

export interface Inbox {
  /** As of the last list or message. */
  unread: number;
  list(): Promise<InboxMessage[]>;
  get(id: string): Promise<InboxText>;
  read(id: string): Promise<void>;
  remove(id: string): Promise<void>;
}

/** What each event has in `detail`. */
export interface AerogramEvents {
  /** A push came over the live connection, for the page to show. */
  message: { push: Push };
  /** The service worker has shown a push. */
  push: { push: Push; isSeen: boolean };
  /** A notification, or a button of it, was clicked. */
  click: { push: Push; button?: string };
  inbox: { unread?: number };
  live: { connected: boolean };
  permission: { permission: NotificationPermission };
  prompt: { accept(): Promise<NotificationPermission>; dismiss(): Promise<unknown> };
  registered: { channelId: string };
  /** Whose browser it is has changed, in this tab or in another. */
  user: { user?: string };
  forgotten: Record<string, never>;
  error: { error: Error & { status?: number } };
}

export class Aerogram extends EventTarget {
  static init(options: InitOptions): Promise<Aerogram>;
  readonly channelId: string | undefined;
  readonly permission: NotificationPermission;
  readonly namedUser: string | undefined;
  readonly connected: boolean;
  readonly inbox: Inbox;
  /** From a click: asks for permission, subscribes and registers. */
  enablePush(): Promise<NotificationPermission>;
  disablePush(): Promise<void>;
  /** The proof is signed by your server; see docs/sdk.md. */
  identify(namedUser: string, proof?: string): Promise<void>;
  reset(): Promise<void>;
  addTags(tags: string | string[], group?: string): Promise<void>;
  removeTags(tags: string | string[], group?: string): Promise<void>;
  /** `null` removes one. */
  setAttributes(values: Record<string, string | number | Date | null>): Promise<void>;
  subscribe(list: string): Promise<void>;
  unsubscribe(list: string): Promise<void>;
  /** Somebody has clicked a push that the page shows itself, or a button of it: a direct response to it, once. */
  clicked(pushId: string, options?: { button?: string }): Promise<void>;
  /** Somebody has closed a push that the page shows itself. */
  dismissed(pushId: string): Promise<void>;
  track(name: string, properties?: { value?: number; [key: string]: unknown }): Promise<void>;
  consent(given: boolean): Promise<void>;
  /** Uninstalls the channel, or has the next page do it, and forgets everything about it in this browser. */
  forget(): Promise<void>;
  addEventListener<K extends keyof AerogramEvents>(
    type: K, listener: (event: CustomEvent<AerogramEvents[K]>) => void, options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | AddEventListenerOptions): void;
}
