import type { Kind } from '../../graph/graph.ts';
import { hashOf } from '../state/hash.ts';
import { nodeKey } from '../state/nodes.ts';
import { Text } from '../text/text.tsx';

type Props = { readonly kind: Kind; readonly id: string; readonly name: string };

/** A thing's name, or its id if it has none, which leads to what depends on it. */
export function NodeLink({ kind, id, name }: Props) {
  return (
    <a href={hashOf('where-used', { id: nodeKey({ kind, id }) })}>
      <Text of={name === '' ? id : name} most={120} />
    </a>
  );
}
