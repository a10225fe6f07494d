// Sends a form with files and reports how much has been sent, which fetch cannot do.

export interface UploadRequest {
  address: string;
  form: FormData;
  headers: Headers;
  /** The share that has been sent, from 0 to 1. */
  onProgress: (share: number) => void;
  signal: AbortSignal;
}

/** The response of the service; rejects with a TypeError if it cannot be reached, as fetch does. */
export function sendForm({ address, form, headers, onProgress, signal }: UploadRequest) {
  return new Promise<Response>((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    headers.forEach((value, name) => {
      request.setRequestHeader(name, value);
    });
    request.upload.onprogress = (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total);
    };
    request.onload = () =>
      resolve(
        new Response(request.responseText, {
          status: request.status,
          statusText: request.statusText,
          headers: parseHeaders(request.getAllResponseHeaders()),
        }),
      );
    request.onerror = () => reject(new TypeError("The service cannot be reached."));
    request.onabort = () => reject(new DOMException("The upload was stopped.", "AbortError"));
    signal.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}

function parseHeaders(lines: string): Headers {
  const headers = new Headers();
  for (const line of lines.trim().split(/\r?\n/)) {
    const [name = "", ...value] = line.split(":");
    if (name !== "") headers.append(name, value.join(":").trim());
  }
  return headers;
}
