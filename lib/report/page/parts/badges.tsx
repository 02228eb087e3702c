import { flagWords } from '../text/flags.ts';

type Name = keyof typeof flagWords;

/** What is wrong with a thing, or worth knowing of it. */
export function Badges({ names }: { readonly names: readonly Name[] }) {
  return names.map((name) => (
    <span key={name} class={`badge badge-${name}`} title={flagWords[name].meaning}>
      {flagWords[name].label}{' '}
    </span>
  ));
}
