import { WorkQueue } from "@holdfast/controller";
const R=3e6;
const cpu=(f,n)=>{const c=process.cpuUsage();f();const d=process.cpuUsage(c);return ((d.user+d.system)*1e3/n).toFixed(1)};
const N=Number(process.argv[2]);
const keys=Array.from({length:N},(_,i)=>`ns/object-${i}`);
if(process.argv[3]==="steady"){
 const q=new WorkQueue(); for(const k of keys)q.add(k);
 console.log([1,2,3,4].map(()=>cpu(()=>{for(let i=0;i<R;i++){const h=q.take();h.done();q.add(h.item)}},R)).join(' '));
} else { const q=new WorkQueue();
 console.log([1,2,3,4,5].map(()=>cpu(()=>{for(let i=0;i<R;i++){q.add(keys[i%N]);q.take().done()}},R)).join(' '));
}
