import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { flagWords, type Kind, linkTo } from '../../facts.ts';
import { hashOf } from '../state/hash.ts';
import { nodeKey, useReport } from '../state/report.ts';
import { count } from '../text/numbers.ts';
import { readable } from '../text/shown.ts';
import { Text } from '../text/text.tsx';

/** The message of an empty part, with the command that would fill it. */
export function Empty({ children, command }: Parent & { readonly command?: string }) {
  return (
    <div class="empty">
      <p>{children}</p>
      {command !== undefined && (
        <p>
          <code>{command}</code>
        </p>
      )}
    </div>
  );
}

type NoticeProps = { readonly id: string; readonly title: string; readonly texts: readonly string[] };

/** A list that the reader should notice, under a title; nothing if it is empty. */
export function Notice({ id, title, texts }: NoticeProps) {
  if (texts.length === 0) return null;
  return (
    <section class="notice" aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      <ul>
        {texts.map((each) => (
          <li key={each}>
            <Text of={each} />
          </li>
        ))}
      </ul>
    </section>
  );
}

type Parent = { readonly children: ComponentChildren };

/** Content that scrolls sideways, also by keyboard, so that the page itself never does. */
export function Scrolled({ label, kind = '', children }: Parent & { label: string; kind?: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class={`scrolled ${kind}`} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}

type NodeProps = { readonly kind: Kind | 'data-file'; readonly id: string; readonly name: string };

/**
 * A thing's name, or its id if it has none. It links to what depends on the thing, if that is known. An arrow links to
 * the thing in the platform.
 */
export function NodeLink({ kind, id, name }: NodeProps) {
  const text = <Text of={name === '' ? id : name} max={120} />;
  return (
    <>
      {kind === 'data-file' ? text : <a href={hashOf('where-used', { id: nodeKey({ kind, id }) })}>{text}</a>}
      <PlatformLink kind={kind} id={id} name={name} />
    </>
  );
}

/** An arrow that links to a thing in the platform, if its address is known. */
export function PlatformLink({ kind, id, name }: NodeProps) {
  const href = linkTo(useReport().facts.links, kind, id);
  if (href === undefined) return null;
  return (
    <>
      {' '}
      <a
        class="away"
        href={href}
        rel="noreferrer"
        title="In the platform"
        aria-label={`${readable(name === '' ? id : name)} in the platform`}
      >
        ↗
      </a>
    </>
  );
}

/** The flags of a thing. */
export function Badges({ names }: { readonly names: readonly (keyof typeof flagWords)[] }) {
  return names.map((name) => (
    <span key={name} class={`badge badge-${name}`} title={flagWords[name].meaning}>
      {flagWords[name].label}{' '}
    </span>
  ));
}

/** A large number that links to the things that it counts. */
export function Tile(options: {
  readonly label: string;
  readonly value: number;
  /** The address of the things that it counts. */
  readonly href: string;
  /** `bad`: the number needs attention if it is not 0. */
  readonly tone?: 'bad' | 'plain';
  readonly note?: string | undefined;
}) {
  const { label, value, href, tone = 'plain', note } = options;
  return (
    <li>
      <a class={`tile ${tone === 'bad' && value > 0 ? 'tile-bad' : ''}`} href={href}>
        <span class="tile-value">{count(value)}</span>
        <span class="tile-label">{label}</span>
        {note !== undefined && <span class="tile-note">{note}</span>}
      </a>
    </li>
  );
}

/** Toggle buttons with which something is selected. */
export function Chips(options: {
  readonly legend: string;
  readonly chips: readonly { readonly name: string; readonly label: string }[];
  readonly isPressed: (name: string) => boolean;
  readonly onPress: (name: string) => void;
}) {
  const { legend, chips, isPressed, onPress } = options;
  return (
    <fieldset class="chips">
      <legend>{legend}</legend>
      {chips.map(({ name, label }) => (
        <button key={name} type="button" aria-pressed={isPressed(name)} onClick={() => onPress(name)}>
          {label}
        </button>
      ))}
    </fieldset>
  );
}

/** A search field. `onValue` is called 120 ms after the last keystroke. */
export function SearchBox({
  label,
  value,
  onValue,
}: {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
}) {
  const id = useId();
  const [typed, setTyped] = useState<string>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const typing = (text: string) => {
    const { hash } = location;
    clearTimeout(timer.current);
    setTyped(text);
    timer.current = setTimeout(() => {
      // If the reader has followed a link in the meantime, do not return to the list.
      if (location.hash === hash) onValue(text);
      setTyped(undefined);
    }, 120);
  };
  return (
    <div class="search">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="search"
        autocomplete="off"
        spellcheck={false}
        value={typed ?? value}
        onInput={(event) => typing(event.currentTarget.value)}
      />
    </div>
  );
}

/** A table of numbers. A column whose head is empty has bars. */
export function NumbersTable(options: {
  readonly caption: string;
  readonly heads: readonly string[];
  /** The rows; the first cell names the row. */
  readonly rows: readonly (readonly [ComponentChildren, ...ComponentChildren[]])[];
  readonly kind?: string;
  /** Whether the headings are visible; if false, they are only for screen readers. */
  readonly headed?: boolean;
}) {
  const { caption, heads, rows, kind = 'list', headed = true } = options;
  const classOf = (head: string | undefined) => (head === '' ? 'bar-cell' : 'number');
  return (
    <table class={kind}>
      <caption class="quiet">{caption}</caption>
      <thead class={headed ? undefined : 'quiet'}>
        <tr>
          {heads.map((head, at) =>
            head === '' ? (
              <td key={head} />
            ) : (
              <th key={head} scope="col" class={at > 0 ? 'number' : undefined}>
                {head}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, ...values], row) => (
          <tr key={row}>
            <th scope="row">{name}</th>
            {values.map((value, at) => (
              <td key={heads[at + 1]} class={classOf(heads[at + 1])}>
                {typeof value === 'number' ? count(value) : value}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The meaning of each colour. */
export function Legend({
  of,
}: {
  readonly of: readonly { readonly name: string; readonly colour: string }[];
}) {
  return (
    <ul class="legend">
      {of.map(({ name, colour }) => (
        <li key={name}>
          <span class="swatch" style={{ background: colour }} aria-hidden="true" />
          {name}
        </li>
      ))}
    </ul>
  );
}
