import type { IncomingHttpHeaders } from 'node:http';

/** The signer of a request (`by`: the access key id), and the service it is for. */
export type Signer = { readonly by: string; readonly service: string };

/**
 * The signer of a request, from its header or from the query of a presigned link that has not expired; otherwise
 * undefined. Signatures are read, not checked.
 */
export function signerOf({ authorization }: IncomingHttpHeaders, url: string): Signer | undefined {
  const [, credential] = HEADER.exec(authorization ?? '') ?? [];
  const [, by, service] = CREDENTIAL.exec(credential ?? credentialOfLink(url) ?? '') ?? [];
  return by === undefined || service === undefined ? undefined : { by, service };
}

const HEADER = /^AWS4-HMAC-SHA256 Credential=([^ ,]+)/;
const CREDENTIAL = /^([^/]+)\/\d{8}\/[^/]+\/([^/]+)\/aws4_request$/;

function credentialOfLink(url: string): string | undefined {
  if (!url.includes('X-Amz-Credential=')) return undefined;
  const { searchParams: query } = new URL(url, 'http://localhost');
  const begun = query.get('X-Amz-Date')?.replace(DATE, '$1-$2-$3T$4:$5:$6Z') ?? '';
  const endsMs = Date.parse(begun) + Number(query.get('X-Amz-Expires')) * 1_000;
  return Date.now() < endsMs ? (query.get('X-Amz-Credential') ?? undefined) : undefined;
}

const DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;
