/** Rows per page: the maximum that the platform allows. */
export const PAGE_ROWS = 5000;

/** The fields of a parsed page of calculations that we use. */
export type CalculationPage = { readonly totalHits: number; readonly results: readonly unknown[] };

/** Requests the page at `offset`, ordered by id. */
export async function fetchPage(offset: number): Promise<Response> {
  const response = await fetch(`${process.env['PLATFORM_BASE_URL']}/api/query/v1/functions/search`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'X-SERVICE-Developer-Token': process.env['PLATFORM_TOKEN'] ?? '',
    },
    body: JSON.stringify({ filters: [], sort: { field: 'id', ascending: true }, limit: PAGE_ROWS, offset }),
  });
  if (!response.ok)
    throw new Error(`the page from ${offset}: the platform responded with ${response.status}`);
  return response;
}
