/** Binds the encrypted token of a forge to the project that is imported. */
export const tokenPurpose = (projectId: number): string => `forge token of project ${projectId}`
