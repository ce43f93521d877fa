/** Binds the encrypted URL of an upload to its export. */
export const uploadPurpose = (requestId: number): string => `upload address of export ${requestId}`
