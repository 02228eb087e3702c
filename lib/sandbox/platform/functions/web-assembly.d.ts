/** The only part of WebAssembly that is used here: Node has it, but its types are only in `lib.dom`. */
declare namespace WebAssembly {
  class Memory {
    constructor(pages: { readonly initial: number; readonly maximum: number });
    readonly buffer: ArrayBuffer;
  }
}
