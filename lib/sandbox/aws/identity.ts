/** Who calls and where, in the local AWS: any credentials will do there, and everything is this account's. */
export const region = 'us-east-1';
export const account = '000000000000';
export const credentials = { accessKeyId: 'sandbox', secretAccessKey: 'sandbox' } as const;
