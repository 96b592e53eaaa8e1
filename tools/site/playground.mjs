export async function buildPlayground(_folder) {}
