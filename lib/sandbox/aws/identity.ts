/** Account, region and credentials in the local AWS: any credentials will do, and everything is in this account. */
export const region = 'us-east-1';
export const account = '000000000000';
export const credentials = { accessKeyId: 'sandbox', secretAccessKey: 'sandbox' } as const;
