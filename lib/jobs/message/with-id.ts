/** The body of a message that has no id, which is a JSON object, with this id; everything else stays byte for byte. */
export const withId = (body: string, id: string): string => body.replace('{', `{"id":${JSON.stringify(id)},`);
