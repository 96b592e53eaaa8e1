import { get } from "node:http";

/**
 * Whether a GET is answered with a status from 200 to 399, as a kubelet's `httpGet` counts it.
 * A redirect is a response and is not followed. One connection per request, so nothing stays open.
 */
export function httpProbe(url: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, signal }, (response) => {
      const { statusCode = 0 } = response;
      response.destroy();
      resolve(statusCode >= 200 && statusCode < 400);
    });
    request.once("error", () => resolve(false));
  });
}
