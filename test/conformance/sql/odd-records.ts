import fc from 'fast-check';
import { type Source, sourceDefinitions } from '../../../lib/snapshot/sources/sources.ts';
import { member, oddJson } from '../../tables/parquet/odd-lines.ts';

/** Values that broke queries, or were changed silently, in tables over JSON. */
const KNOWN = [
  ['"links":"text"', '"activeLinks":[]'],
  ['"links":[{"resource":"text"},7,null]', '"activeLinks":{"a":"b"}'],
  ['"links":[{"resource":{"id":1,"type":null,"more":1}}]', '"lastModified":{"at":1}'],
  ['"lastModified":99999999999999999999', '"locked":1', '"created":1.5'],
  ['"lastModified":1.0', '"lastModified":1', '"name":"twice","name":"twice again"'],
  ['"name":"\\ud800"', '"status":"\\u0000"', '"unknown":[[1.0,1]]'],
  ['"created":-62135596800001', '"lastModified":253402300799999'],
  ['"name":"ünï 😀 \\u2028"', '"owner":null', '"size":9223372036854775807', '"hash":7', '"fileType":false'],
] as const;

/** Records of a source with ids above 2^53 and with members whose types differ from those of their columns. */
export function oddRecords(source: Source, seed: number): readonly string[] {
  const { columns, records } = sourceDefinitions[source];
  const { id, owner = [] } = records.key;
  const names = Object.keys(columns).filter((name) => name !== id && !owner.includes(name));
  const members = fc.oneof(
    member(fc.constantFrom(...names.map((name) => JSON.stringify(name))), oddJson),
    member(fc.constantFrom('"other"', '"Name"', '"_other"', '"toString"'), oddJson),
  );
  const drawn = fc.sample(fc.array(members, { maxLength: 8 }), { numRuns: 30, seed });
  const keyOf = (at: number) => [
    ...owner.slice(0, 1).map((name) => `"${name}":"set"`),
    `"${id}":${2n ** 70n + BigInt(at)}`,
  ];
  return [...KNOWN, ...drawn].map((some, at) => `{${[...keyOf(at), ...some].join(',')}}`);
}
