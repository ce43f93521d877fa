/** Binds the encrypted URL of a pull mirror to its project. */
export const mirrorPurpose = (projectId: number): string => `source of the pull mirror of project ${projectId}`
