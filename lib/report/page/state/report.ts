import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ReportFacts } from '../../facts.ts';
import { edgesOf, type Node, nodeKey, nodesOf } from './nodes.ts';

/** The facts, and what is made from them once. */
export type Report = {
  readonly facts: ReportFacts;
  readonly nodes: readonly Node[];
  /** The number of a node by its key. */
  readonly numbers: ReadonlyMap<string, number>;
  /** What an owner is called: the name, or else the id. */
  readonly ownerOf: (id: string) => string;
  readonly graph: ReturnType<typeof edgesOf> & {
    /** The links that are not VALID. */
    readonly broken: readonly { readonly edge: number; readonly valid: string }[];
  };
};

export function createReport(facts: ReportFacts): Report {
  const nodes = nodesOf(facts);
  const { id: owners = [], name = [] } = facts.owners?.list.columns ?? {};
  const names = new Map(owners.map((id, row) => [id, name[row] ?? '']));
  return {
    facts,
    nodes,
    numbers: new Map(nodes.map((node, index) => [nodeKey(node), index])),
    ownerOf: (id) => names.get(id) || id,
    graph: {
      ...edgesOf(facts.graph, nodes.length),
      broken: facts.graph.invalid.map(([edge, valid]) => ({ edge, valid })),
    },
  };
}

export const ReportContext = createContext<Report | undefined>(undefined);

/** The report that the page shows. */
export function useReport(): Report {
  const report = useContext(ReportContext);
  if (report === undefined) throw new Error('expected to be within the page');
  return report;
}
