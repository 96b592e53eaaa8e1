import { WorkQueue } from "@holdfast/controller";
const R=3e6;
const cpu=(f,n)=>{const c=process.cpuUsage();f();const d=process.cpuUsage(c);return ((d.user+d.system)*1e3/n).toFixed(1)};
function bare(keys){const N=keys.length;const m=new Map(),ring=new Array(1024);let h=0,t=0;for(let i=0;i<R;i++){const k=keys[i%N]; if(!m.has(k)){m.set(k,1);ring[t++&1023]=k} const g=ring[h&1023];ring[h++&1023]=undefined;m.set(g,2);m.delete(g)}}
for(const N of [1,1000,100000,1000000]){
 const keys=Array.from({length:N},(_,i)=>`ns/object-${i}`);
 const out=[];
 for(let k=0;k<4;k++){
  const q=new WorkQueue();
  const a=cpu(()=>{for(let i=0;i<R;i++){q.add(keys[i%N]);q.take().done()}},R);
  out.push(a+'/'+cpu(()=>bare(keys),R));
 }
 const q=new WorkQueue(); for(const k of keys)q.add(k);
 const steady=[1,2,3].map(()=>cpu(()=>{for(let i=0;i<R;i++){const h=q.take();h.done();q.add(h.item)}},R));
 const q2=new WorkQueue();
 const aw=[]; for(let r=0;r<3;r++){const c=process.cpuUsage();for(let i=0;i<1e6;i++){q2.add(keys[i%N]);(await q2.get()).done()} const d=process.cpuUsage(c);aw.push(((d.user+d.system)*1e3/1e6).toFixed(0))}
 console.log(N,'add-take-done/bare',out.join(' '),'steady',steady.join(' '),'await get',aw.join(' '));
}
