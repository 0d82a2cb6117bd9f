// Types of aerogram-ui.js, which is imported for the elements that it defines.

import type { Aerogram } from './aerogram.js';

/** Any of the ready-made parts. Its texts are attributes; docs/sdk.md has them. */
export interface AerogramPart extends HTMLElement {
  /** What it shows something of; nothing is shown before. */
  get push(): Aerogram | undefined;
  set push(push: Aerogram);
}

declare global {
  interface HTMLElementTagNameMap {
    'aerogram-prompt': AerogramPart;
    'aerogram-bell': AerogramPart;
    'aerogram-inbox': AerogramPart;
  }
}
