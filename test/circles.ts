/** A directed edge from one node of a graph to another. */
type Arrow = { readonly from: string; readonly of: string };

/**
 * The cycles of a graph: its strongly connected components of more than one node, each sorted. Tarjan, "Depth-First
 * Search and Linear Graph Algorithms", 1972.
 */
export function circlesOf(arrows: readonly Arrow[]): readonly (readonly string[])[] {
  const next = new Map<string, string[]>();
  for (const { from, of } of arrows) next.set(from, [...(next.get(from) ?? []), of]);
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const path: string[] = [];
  const circles: string[][] = [];

  function visit(node: string): void {
    order.set(node, order.size);
    lowest.set(node, order.size - 1);
    path.push(node);
    for (const other of next.get(node) ?? []) {
      if (!order.has(other)) visit(other);
      if (path.includes(other)) lowest.set(node, Math.min(low(node), low(other)));
    }
    if (low(node) !== order.get(node)) return;
    const component = path.splice(path.indexOf(node));
    if (component.length > 1) circles.push(component.sort());
  }
  const low = (node: string) => lowest.get(node) ?? 0;

  for (const node of next.keys()) if (!order.has(node)) visit(node);
  return circles;
}
