// One project with two pages, console.html and portal.html, which share their code.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { lingui, linguiTransformerBabelPreset } from "@lingui/vite-plugin";
import babel from "@rolldown/plugin-babel";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const OUTPUT = "../src/nimbill/application/static/web";

// The service sends these files as they are.
function compressAssets(): Plugin {
  return {
    name: "compress-assets",
    apply: "build",
    closeBundle() {
      const folder = join(import.meta.dirname, OUTPUT, "assets");
      for (const name of readdirSync(folder)) {
        if (!/\.(js|css|svg)$/.test(name)) continue;
        const content = readFileSync(join(folder, name));
        writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content));
        writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
      }
    },
  };
}

// `vite` alone serves the pages for developing, and passes requests for data to a running service.
const SERVICE = process.env.NIMBILL_BASE_URL ?? "http://127.0.0.1:8080";

function servePages(): Plugin {
  return {
    name: "serve-pages",
    configureServer(server) {
      server.middlewares.use((request, _response, next) => {
        if (request.url?.startsWith("/console")) request.url = "/web/console.html";
        if (/^\/portal(?!\/session)/.test(request.url ?? "")) request.url = "/web/portal.html";
        next();
      });
    },
  };
}

export default defineConfig({
  base: "/web/",
  server: { proxy: { "^/(m|core|portal/session|docs)(/|$)": SERVICE } },
  plugins: [
    servePages(),
    react(),
    lingui({ failOnMissing: process.env.NODE_ENV === "production" }),
    babel({ presets: [linguiTransformerBabelPreset()] }),
    compressAssets(),
  ],
  build: {
    outDir: OUTPUT,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1500,
    rollupOptions: { input: ["console.html", "portal.html"] },
  },
});
