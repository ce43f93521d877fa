/** Binds the encrypted secret of a second factor to its user. */
export const purpose = (userId: number): string => `two-factor secret of user ${userId}`
