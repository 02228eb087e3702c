/* What both Powertools handlers send to the platform. */

const { PLATFORM_BASE_URL = '', PLATFORM_TOKEN = '' } = process.env;

/** The request of a function's message, or of one text. */
export const requestOf = (message) =>
  message.type === 'text'
    ? {
        path: '/api/ai/v1/targeted-sentiment',
        body: { input: [{ type: 'TEXT', text: message.text }], simpleSentiment: true },
      }
    : {
        path: `/api/codeengine/v2/packages/${message.packageId}/versions/${message.packageVersion}/functions/${message.functionName}`,
        body: { inputVariables: message.inputVariables },
      };

export const textsOf = ({ texts }) => texts.map(({ text }) => text);

/** Returns the response of any status. Throws as `fetch` does. */
export const postToPlatform = ({ path, body }) =>
  fetch(new URL(path, PLATFORM_BASE_URL), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'X-SERVICE-Developer-Token': PLATFORM_TOKEN },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(330_000),
  });

/** Does all of them, a few at a time, and returns the results in order. */
export async function inGroups(items, size, run) {
  const results = [];
  for (let from = 0; from < items.length; from += size)
    results.push(...(await Promise.all(items.slice(from, from + size).map(run))));
  return results;
}
