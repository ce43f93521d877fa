/** Binds the encrypted URL of a push mirror to it. */
export const targetPurpose = (mirrorId: number): string => `target of the push mirror ${mirrorId}`
