/** Binds the encrypted URL of a hook to it. */
export const urlPurpose = (hookId: number): string => `url of the hook ${hookId}`

/** Binds the encrypted token of a hook to it. */
export const tokenPurpose = (hookId: number): string => `token of the hook ${hookId}`
